# Adds up reports of coverlet in the Cobertura format: a line counts as covered if any test project ran it, and of each line's branches as many
# as the test project that took the most of them. Names of files are relative to the report's source folder, which differs from report to
# report; they count from the folder src. Prints a row for each assembly, and the total, with a word before each that sorts them.
function attribute(name,   found) {
  if (!match($0, name "=\"[^\"]*\"")) return ""
  found = substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3)
  return found
}
/<source>/ { match($0, /<source>[^<]*/); source = substr($0, RSTART + 8, RLENGTH - 8) }
/<package / { assembly = attribute("name") }
/<class / { file = source attribute("filename"); sub(/^.*\/src\//, "", file) }
/<line / {
  key = assembly SUBSEP file SUBSEP attribute("number")
  if (!(key in hits)) { owner[key] = assembly; hits[key] = 0 }
  if (attribute("hits") + 0 > 0) hits[key] = 1
  conditions = attribute("condition-coverage")   # 50% (1/2)
  if (split(conditions, part, /[(\/)]/) >= 3) {
    if (part[2] + 0 > taken[key] + 0) taken[key] = part[2]
    branches[key] = part[3]
  }
}
function row(order, name, lines, covered, all, some) {
  printf "%s %-32s %7d lines %6.1f %% covered %7d branches %6.1f %% covered\n", order, name,
    lines, lines ? 100 * covered / lines : 100, all, all ? 100 * some / all : 100
}
END {
  for (key in owner) {
    a = owner[key]
    lines[a]++; covered[a] += hits[key]; all[a] += branches[key]; some[a] += taken[key]
  }
  for (a in lines) {
    row("1", a, lines[a], covered[a], all[a], some[a])
    l += lines[a]; c += covered[a]; b += all[a]; s += some[a]
  }
  row("2", "total", l, c, b, s)
}
