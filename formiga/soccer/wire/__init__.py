"""The messages of FIRASim and VSSReferee, as classes. The .proto files here are ours, written to that wire format."""

from __future__ import annotations
