"""S1, bootstrap: does moving robots apart, instead of freezing them, help evolution to get started? [Swarmod draft, III.1]"""
