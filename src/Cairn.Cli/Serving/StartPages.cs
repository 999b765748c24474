using Cairn.Platform.Linux;

namespace Cairn.Cli.Serving;

// The start reads most of a native binary once: the code of the start, and compressed tables that the runtime unpacks. These pages count
// as resident until the system is short of memory, although nothing reads them again. A page that is read again comes from the page
// cache, without a read from the disk.

/// <summary>Removes the pages of the program file from the memory of this process after the start.</summary>
internal static class StartPages
{
    private const string MapsFile = "/proc/self/smaps";

    /// <summary>Starts the removal on another thread and returns at once. No effect unless this is a native binary on Linux.</summary>
    public static void GiveBack()
    {
        // The runtime of .NET maps assemblies in its own way.
        if (OperatingSystem.IsLinux() && !RuntimeFeature.IsDynamicCodeSupported && Environment.ProcessPath is { } program)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static path => Remove(path), program, preferLocal: false);
        }
    }

    /// <summary>Returns the ranges of a file that are mapped without the right to write and have no page of the process's own. A page of
    /// its own would lose its contents, for example addresses that the loader has adapted.</summary>
    internal static List<(nuint Start, nuint End)> Find(TextReader maps, string path)
    {
        List<(nuint Start, nuint End)> found = [];
        string? range = null; // START-END of a candidate.
        while (maps.ReadLine() is { } line)
        {
            // A range is described by a line "START-END rwxp OFFSET DEVICE INODE PATH", and then by lines such as "Anonymous:  0 kB".
            if (line.Length > 0 && char.IsAsciiHexDigitLower(line[0]))
            {
                string[] words = line.Split(' ', 6, StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
                range = words is [_, [_, '-', _, 'p'], _, _, _, _] && words[5] == path ? words[0] : null;
            }
            else if (range is not null && line.StartsWith("Anonymous:", StringComparison.Ordinal) && line.AsSpan(10).Trim() is "0 kB")
            {
                string[] ends = range.Split('-');
                found.Add((Address(ends[0]), Address(ends[^1])));
            }
        }

        return found;
    }

    private static nuint Address(ReadOnlySpan<char> digits) => nuint.Parse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture);

    private static unsafe void Remove(string program)
    {
        try
        {
            using StreamReader maps = File.OpenText(MapsFile);
            foreach ((nuint start, nuint end) in Find(maps, program))
            {
                _ = LinuxNative.Advise((void*)start, end - start, LinuxNative.AdviseDrop);
            }
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or FormatException)
        {
            // There is no such file system, or its text has another form. The pages stay.
        }
    }
}
