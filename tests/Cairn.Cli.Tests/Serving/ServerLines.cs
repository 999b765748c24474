using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Cairn.Cli.Tests.Serving;

/// <summary>Reads facts about a server from its log.</summary>
internal static partial class ServerLines
{
    /// <summary>Returns the port that the system chose for memcached's protocol. Waits until the server logs it.</summary>
    public static int MemcachedPort(ToolProcess server)
    {
        var log = new StringBuilder();
        while (server.ReadErrorLine() is { Length: > 0 } line)
        {
            log.AppendLine(line);
            if (ListeningLine().IsMatch(line))
            {
                return PortIn(line);
            }
        }

        throw new InvalidOperationException($"The server ended: {log}");
    }

    public static int PortIn(string log) => int.Parse(ListeningLine().Match(log).Groups[1].Value, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"Listening for memcached on 127\.0\.0\.1:(\d+)\.")]
    private static partial Regex ListeningLine();
}
