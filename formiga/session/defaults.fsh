# The binds of every session. `bind` lists them, `unbind KEY` forgets one, `settings save` keeps your own.
bind Space pause
bind . step
bind r reset
bind n "seed new"
bind o "camera overview"
bind t "camera top"
bind f follow
bind v 'follow $selected eyes'
bind Escape "select none; follow off"
bind b "overlay beams"
bind c "overlay circles"
bind x "overlay shifts"
bind j "overlay contacts"
bind g "overlay forces"
bind l "overlay links"
bind k "overlay trails"
bind i "overlay names"
bind p screenshot
bind Ctrl+z undo
