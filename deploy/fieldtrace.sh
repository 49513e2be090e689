#!/bin/sh
# /usr/local/bin/fieldtrace on a server: runs a command as the service runs, with its settings and as its user.
# Run it as root, who alone can read the settings.
DATA_DIR=/var/lib/fieldtrace
NODE_COMPILE_CACHE=/var/cache/fieldtrace
export DATA_DIR NODE_COMPILE_CACHE

# Reads the settings as systemd reads an EnvironmentFile (parse_env_file_internal in its src/basic/env-file.c), so that a
# command has the same ones as the service: nothing in the file is run or expanded. Prints them quoted for this shell.
settings=$(awk '
  function keep() {
    sub(/[ \t]+$/, "", key)
    if (state == "value") value = substr(value, 1, length(value) - blanks)
    if (key ~ /^[A-Za-z_][A-Za-z0-9_]*$/) {
      gsub(/\047/, "\047\"\047\"\047", value)
      print "export " key "=\047" value "\047"
    }
    state = "start"; key = ""; value = ""; blanks = 0
  }
  function take(c) {
    isEnd = c == "\n" || c == "\r"
    isBlank = isEnd || c == " " || c == "\t"
    if (state == "start") {
      if (c == "#" || c == ";") state = "comment"
      else if (!isBlank) { state = "key"; key = c }
    } else if (state == "comment") {
      if (isEnd) state = "start"
    } else if (state == "key") {
      if (isEnd) { state = "start"; key = "" }
      else if (c == "=") state = "before"
      else key = key c
    } else if (state == "before" && isEnd) keep()
    else if (state == "before" && c == "\047") state = "single"
    else if (state == "before" && c == "\"") state = "double"
    else if (state == "before" && isBlank) return
    else if (state == "before" || state == "value") {
      if (isEnd) keep()
      else if (c == "\\") { state = "escape"; blanks = 0 }
      else { state = "value"; value = value c; blanks = isBlank ? blanks + 1 : 0 }
    } else if (state == "escape") {
      if (!isEnd) value = value c
      state = "value"
    } else if (state == "single") {
      if (c == "\047") state = "before"
      else value = value c
    } else if (state == "double") {
      if (c == "\"") state = "before"
      else if (c == "\\") state = "double escape"
      else value = value c
    } else if (state == "double escape") {
      if (c == "\"" || c == "\\" || c == "`" || c == "$") value = value c
      else if (c != "\n") value = value "\\" c
      state = "double"
    }
  }
  BEGIN { state = "start" }
  { for (at = 1; at <= length($0); at++) take(substr($0, at, 1)); take("\n") }
  END { if (state != "start" && state != "comment" && state != "key") keep() }
' /etc/fieldtrace.env) || {
  echo 'fieldtrace: run this as root, who alone can read /etc/fieldtrace.env' >&2
  exit 1
}
eval "$settings"
cd "$DATA_DIR" && exec runuser -u fieldtrace -- /opt/fieldtrace/node_modules/.bin/fieldtrace "$@"
