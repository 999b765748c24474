using System.Globalization;

namespace Cairn.Benchmarks.Server;

/// <summary>Reads /proc/PID/smaps.</summary>
internal static class ResidentMemory
{
    private const string ResidentField = "Rss:";

    /// <summary>Returns the resident bytes of all mappings except those of the file at <paramref name="mappedPath"/>.</summary>
    public static long SumBeside(string mappedPath, IEnumerable<string> lines)
    {
        long sum = 0;
        var isCounted = true;
        foreach (var line in lines)
        {
            var fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 0 && !fields[0].EndsWith(':'))
            {
                // "7f00-7f01 rw-s 00000000 fe:00 1234 /path" begins a mapping; its figures follow.
                isCounted = !line.EndsWith(" " + mappedPath, StringComparison.Ordinal);
            }
            else if (isCounted && fields is [ResidentField, var kibibytes, ..])
            {
                sum += long.Parse(kibibytes, CultureInfo.InvariantCulture) << 10;
            }
        }

        return sum;
    }
}
