// The minimum of the machine's memory and the limits of control groups. The groups are all from this process's own group up to the top group that its
// container can see. Versions 1 and 2 of control groups can be mounted together, so both are read.
//   /proc/self/cgroup      "0::/path" (version 2) and "4:memory:/path" (version 1), paths from the hierarchy's root
//   /proc/self/mountinfo   where each hierarchy is mounted, and which of its directories is the mount's root
namespace Cairn.Platform.Linux;

internal static class LinuxMemoryLimit
{
    /// <summary>Returns the maximum memory of this process in bytes.</summary>
    /// <param name="root">The directory that contains /proc and the mount points: "/", or a tree that a test has created.</param>
    /// <returns>The number of bytes, or null if nothing could be read.</returns>
    public static long? Find(string root)
    {
        long? limit = MachineMemory(Read(root, "/proc/meminfo"), "MemTotal:");
        List<LinuxMount> mounts = LinuxMounts.Parse(Read(root, "/proc/self/mountinfo") ?? "");
        foreach (string line in (Read(root, "/proc/self/cgroup") ?? "").Split('\n'))
        {
            string[] fields = line.Split(':', 3);
            if (fields.Length != 3)
            {
                continue;
            }

            bool isVersion2 = fields[0] == "0" && fields[1].Length == 0;
            if (isVersion2 || fields[1].Split(',').Contains("memory"))
            {
                limit = Least(limit, GroupLimit(root, mounts, fields[2], isVersion2));
            }
        }

        return limit;
    }

    /// <summary>
    /// Returns the number of bytes that files in memory can still take without displacing the programs of the machine. This is the memory that is free, can
    /// be reclaimed from caches, or can be swapped. It is less if this process has a lower limit.
    /// </summary>
    /// <param name="root">The same as for <see cref="Find"/>.</param>
    public static long? FindFree(string root)
    {
        string? memInfo = Read(root, "/proc/meminfo");
        return Least(MachineMemory(memInfo, "MemAvailable:") + (MachineMemory(memInfo, "SwapFree:") ?? 0), Find(root));
    }

    private static long? GroupLimit(string root, List<LinuxMount> mounts, string group, bool isVersion2)
    {
        long? limit = null;
        foreach (LinuxMount mount in mounts)
        {
            bool isItsHierarchy = isVersion2
                ? mount.Kind == "cgroup2"
                : mount.Kind == "cgroup" && mount.Options.Split(',').Contains("memory");
            if (!isItsHierarchy)
            {
                continue;
            }

            // A container's mount begins below the hierarchy's root, and its process can be outside the visible part.
            string below = LinuxMounts.Contains(mount.Root, group)
                ? group[(mount.Root == "/" ? 0 : mount.Root.Length)..].Trim('/')
                : "";
            string file = isVersion2 ? "memory.max" : "memory.limit_in_bytes";
            while (true)
            {
                limit = Least(limit, Limit(Read(root, $"{mount.MountPoint}/{below}/{file}")));
                if (below.Length == 0)
                {
                    break;
                }

                below = below[..Math.Max(0, below.LastIndexOf('/'))];
            }
        }

        return limit;
    }

    // "max" means no limit. Version 1 has a number near the largest one instead, which is higher than the machine's memory.
    private static long? Limit(string? text) => long.TryParse(text?.Trim(), out long bytes) ? bytes : null;

    private static long? MachineMemory(string? memInfo, string label)
    {
        // Example: MemTotal:       49368184 kB
        foreach (string line in (memInfo ?? "").Split('\n'))
        {
            if (line.StartsWith(label, StringComparison.Ordinal) &&
                long.TryParse(line[label.Length..].Replace("kB", "", StringComparison.Ordinal).Trim(), out long kibibytes))
            {
                return kibibytes * 1024;
            }
        }

        return null;
    }

    private static long? Least(long? first, long? second) =>
        first is null ? second : second is null ? first : Math.Min(first.Value, second.Value);

    private static string? Read(string root, string path)
    {
        // The existence is checked first, because most paths do not exist. The first exception of a process costs ten milliseconds.
        string file = Path.Join(root, path);
        if (!File.Exists(file))
        {
            return null;
        }

        try
        {
            return File.ReadAllText(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null; // The file is gone, or this user cannot read it. So this limit stays unknown.
        }
    }
}
