using System.Globalization;
using System.Text.RegularExpressions;

namespace Cairn.Server.Tests.Memcached;

/// <summary>
/// Mostly valid requests on few keys, so that they collide. Times are long and differ widely, so that no result depends on when a request
/// is executed.
/// </summary>
internal static partial class RandomRequests
{
    private static readonly string[] s_times = ["0", "0", "0", "-1", "10100", "2592001"];

    // Includes characters that turn a request into another one.
    private static readonly char[] s_insertions = [' ', '\r', '\n', '0', '1', 'a', 'k', 'q', 'v', 'N', 'O', '-', '+', '\t', 'é', '\x7F'];

    /// <summary>Creates some requests in one piece.</summary>
    public static string Make(Random random, int count) => string.Concat(Enumerable.Range(0, count).Select(_ => Make(random)));

    /// <summary>Removes, inserts or changes one to three bytes of the requests.</summary>
    public static string Break(Random random, string requests)
    {
        while (true)
        {
            string broken = requests;
            for (int changes = random.Next(1, 4); changes > 0; changes--)
            {
                broken = BreakOnce(random, broken);
            }

            // memcached parses numbers beyond 32 bits differently, and 1.6.18 ignores flags that had no meaning for a command yet.
            if (!LongNumber().IsMatch(broken) && !NewerFlags().IsMatch(broken))
            {
                return broken;
            }
        }
    }

    /// <summary>Returns some positions in the input, ascending.</summary>
    public static int[] Cuts(Random random, string requests) =>
        [.. Enumerable.Range(0, random.Next(6)).Select(_ => random.Next(requests.Length)).Order()];

    private static string BreakOnce(Random random, string requests)
    {
        int place = random.Next(requests.Length);
        string insertion = s_insertions[random.Next(s_insertions.Length)].ToString();
        return random.Next(4) switch
        {
            0 => requests.Remove(place, 1),
            1 => requests.Insert(place, insertion),
            2 => requests.Remove(place, 1).Insert(place, insertion),
            _ => requests.Insert(place, requests[random.Next(place)..place]),
        };
    }

    [GeneratedRegex("^ *(?:ma (?=.* q)(?=.* N)|ms .* [sNxE]|m[gad] .* [xEC])", RegexOptions.Multiline)]
    private static partial Regex NewerFlags();

    [GeneratedRegex(@"\d{10}")]
    private static partial Regex LongNumber();

    private static string Make(Random random)
    {
        string value = random.Next(3) == 0 ? Text(random.Next(200)) : new string((char)random.Next('a', 'e'), random.Next(40));
        string end = random.Next(8) == 0 ? " noreply\r\n" : "\r\n";
        string store = $"{Key()} {Flags()} {Time()} {value.Length}";
        return random.Next(30) switch
        {
            0 => $"get {Key()}\r\n",
            1 => $"gets {Key()} {Key()} {Key()}\r\n",
            2 => $"set {Number()} {Flags()} 0 2\r\n42\r\n",
            3 or 4 => $"set {store}{end}{value}\r\n",
            5 => $"add {store}{end}{value}\r\n",
            6 => $"replace {store}{end}{value}\r\n",
            7 => $"append {store}{end}{value}\r\n",
            8 => $"prepend {store}{end}{value}\r\n",
            9 => $"cas {store} 0{end}{value}\r\n",
            10 => $"delete {Key()}{end}",
            11 => $"incr {Number()} {random.Next(100)}{end}",
            12 => $"decr {Number()} {random.Next(100)}{end}",
            13 => $"touch {Key()} {Time()}{end}",
            14 => $"gat {Time()} {Key()} {Key()}\r\n",
            15 => $"gats {Time()} {Key()}\r\n",
            16 => $"get {Number()} {Number()}\r\n",
            17 => random.Next(5) == 0 ? "flush_all\r\n" : "version\r\n",
            18 or 19 or 20 =>
                $"mg {Key()}{Some("v", "c", "f", "k", "s", "t", "q", "O12", "T10100", "N20200", "R3737", "R73317", "u")}\r\n",
            21 or 22 or 23 => $"ms {Key()} {value.Length}{Some("c", "k", "q", "O12", "T10100", "F3", Mode(), "I")}\r\n{value}\r\n",
            24 or 25 => $"md {Key()}{Some("k", "q", "O12", "I", "T10100")}\r\n",
            26 or 27 => $"ma {Number()}{Some("v", "c", "k", random.Next(2) == 0 ? "q" : "N10100", "O12", "J5", "D3", "MD", "MI", "t")}\r\n",
            28 => "mn\r\n",
            _ => $"{(char)random.Next(33, 127)}{Key()} {value}\r\n",
        };

        static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
        string Key() => "k" + Text(random.Next(4));
        string Number() => "count" + Text(random.Next(2));
        string Flags() => random.Next(3) == 0 ? "7" : "0";
        string Time() => s_times[random.Next(s_times.Length)];
        string Mode() => "M" + "SEARPsearpX"[random.Next(11)];
        string Some(params string[] flags) => string.Concat(flags.Where(_ => random.Next(4) == 0).Select(flag => " " + flag));
    }
}
