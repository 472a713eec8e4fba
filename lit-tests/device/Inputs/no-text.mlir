// A file that was cut off.
device.machine @small arch("small") features([]) {
