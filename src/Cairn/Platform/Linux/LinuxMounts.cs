// /proc/self/mountinfo has one line for each mount:
//   36 35 98:0 /inside/its/file/system /mount/point rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue
// The number of fields before the single dash varies. Space, tab, newline and backslash are written as octal escapes.
namespace Cairn.Platform.Linux;

[StructLayout(LayoutKind.Auto)]
internal sealed record LinuxMount(string Root, string MountPoint, string Kind, string Options);

internal static class LinuxMounts
{
    public static List<LinuxMount> Parse(string mountInfo)
    {
        var mounts = new List<LinuxMount>();
        foreach (string line in mountInfo.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] fields = line.Split(' ');
            int dash = Array.IndexOf(fields, "-");
            if (dash >= 6 && fields.Length >= dash + 4)
            {
                mounts.Add(new LinuxMount(
                    Unescape(fields[3]), Unescape(fields[4]), fields[dash + 1], fields[dash + 3]));
            }
        }

        return mounts;
    }

    /// <summary>
    /// Returns the mount that contains a path. If two mounts share a mount point, returns the later one, because it hides the earlier one.
    /// </summary>
    public static LinuxMount? Find(List<LinuxMount> mounts, string path)
    {
        LinuxMount? best = null;
        foreach (LinuxMount mount in mounts)
        {
            if (Contains(mount.MountPoint, path) && mount.MountPoint.Length >= (best?.MountPoint.Length ?? 0))
            {
                best = mount;
            }
        }

        return best;
    }

    public static bool Contains(string directory, string path) =>
        directory == "/" || path == directory ||
        (path.StartsWith(directory, StringComparison.Ordinal) && path[directory.Length] == '/');

    private static string Unescape(string field)
    {
        if (!field.Contains('\\', StringComparison.Ordinal))
        {
            return field;
        }

        var text = new StringBuilder(field.Length);
        for (int i = 0; i < field.Length; i++)
        {
            if (field[i] == '\\' && i + 3 < field.Length)
            {
                text.Append((char)(((field[i + 1] - '0') * 64) + ((field[i + 2] - '0') * 8) + (field[i + 3] - '0')));
                i += 3;
            }
            else
            {
                text.Append(field[i]);
            }
        }

        return text.ToString();
    }
}
