using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Peers;

// The maps of the JVM that keep their entries in a file. Their program runs anew in every round and prints a line for
// each map: nanoseconds per put and per get of n integers, from the last of its own rounds, when the JVM is warm. Maps that
// commit every put take milliseconds each, and so put fewer. The lines after the last one wanted are not waited for.
internal sealed partial class JavaPeers : IDisposable
{
    public const string ChronicleMap = "Chronicle Map";
    public const string MapDb = "MapDB mmap, no commit";
    public const string MapDbCommitted = "MapDB mmap, a commit each";
    public const string MapDbLogged = "MapDB with its log, a commit each";

    private const string PeerName = "Java peers";
    private const string Program = "Peers";

    private readonly string _peersFolder;
    private readonly string _folder;
    private readonly int _entries;
    private readonly HashSet<string> _wanted = new(StringComparer.Ordinal);
    private int _currentRound = -1;
    private Dictionary<string, JavaFigures> _currentFigures = [];

    /// <param name="peersFolder">Holds <c>Peers.java</c>, <c>jvmargs</c> and <c>lib</c>; stays as it is.</param>
    /// <param name="folder">Where classes and maps are kept until this is disposed of.</param>
    /// <param name="entries">How many integers each map holds.</param>
    /// <exception cref="PeerUnavailableException">The peers are not there, or there is no Java development kit.</exception>
    public JavaPeers(string peersFolder, string folder, int entries)
    {
        _peersFolder = peersFolder;
        _entries = entries;
        if (!File.Exists(Path.Combine(peersFolder, Program + ".java")))
        {
            throw new PeerUnavailableException(
                PeerName, "the folder of peers has no Peers.java; name it with --peers or CAIRN_PEERS.");
        }

        _folder = Directory.CreateDirectory(Path.Combine(folder, "java")).FullName;
        Compile();
    }

    private string Libraries => Path.Combine(_peersFolder, "lib", "*");

    /// <summary>A contender that reports what the program measured for puts into <paramref name="map"/>.</summary>
    public IContender Puts(string map) => Enter(map, figures => figures.PutNs);

    /// <summary>The same for gets.</summary>
    public IContender Gets(string map) => Enter(map, figures => figures.GetNs);

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>Reads one line of the program; lines of maps that nobody compares with give nothing.</summary>
    public static (string Map, JavaFigures Figures)? ParseLine(string line)
    {
        var match = FigureLine().Match(line);
        if (!match.Success)
        {
            return null;
        }

        var map = match.Groups["map"].Value switch
        {
            "ChronicleMap" => ChronicleMap,
            "MapDB mmap, no commit" => MapDb,
            "MapDB mmap, commit each" => MapDbCommitted,
            "MapDB mmap+WAL, commit each" => MapDbLogged,
            _ => null,
        };
        return map is null ? null : (map, new JavaFigures(Number(match, "put"), Number(match, "get")));
    }

    private static double Number(Match match, string group) =>
        double.Parse(match.Groups[group].ValueSpan, CultureInfo.InvariantCulture);

    private JavaContender Enter(string map, Func<JavaFigures, double> select)
    {
        _wanted.Add(map);
        return new JavaContender(this, map, select);
    }

    private void Compile()
    {
        var errors = new StringBuilder();
        using var compiler = Start(
            "javac", ["-nowarn", "-cp", Libraries, "-d", _folder, Path.Combine(_peersFolder, Program + ".java")], errors);
        compiler.StandardOutput.ReadToEnd();
        compiler.WaitForExit();
        if (compiler.ExitCode != 0)
        {
            throw new PeerUnavailableException(PeerName, $"javac failed: {errors}");
        }
    }

    private JavaFigures FiguresOf(string map, int round)
    {
        if (round != _currentRound)
        {
            _currentFigures = RunProgram();
            _currentRound = round;
        }

        return _currentFigures[map];
    }

    private Dictionary<string, JavaFigures> RunProgram()
    {
        var jvmArguments = "@" + Path.Combine(_peersFolder, "jvmargs");
        var errors = new StringBuilder();
        var classPath = $"{_folder}:{Libraries}";
        using var program = Start(
            "java", [jvmArguments, "-cp", classPath, Program, _entries.ToString(CultureInfo.InvariantCulture), _folder], errors);

        var figures = new Dictionary<string, JavaFigures>(StringComparer.Ordinal);
        while (!_wanted.IsSubsetOf(figures.Keys) && program.StandardOutput.ReadLine() is { } line)
        {
            if (ParseLine(line) is { } parsed)
            {
                figures.Add(parsed.Map, parsed.Figures);
            }
        }

        program.Kill();
        program.WaitForExit();
        return _wanted.IsSubsetOf(figures.Keys)
            ? figures
            : throw new InvalidDataException($"{PeerName} ended early: {errors}");
    }

    private static Process Start(string command, IEnumerable<string> arguments, StringBuilder errors)
    {
        var start = new ProcessStartInfo(command, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };

        try
        {
            var process = Process.Start(start)!;
            process.ErrorDataReceived += (_, line) => errors.AppendLine(line.Data);
            process.BeginErrorReadLine();
            return process;
        }
        catch (Win32Exception missing)
        {
            throw new PeerUnavailableException(PeerName, $"there is no {command} (Debian package openjdk-17-jdk-headless).", missing);
        }
    }

    [GeneratedRegex(
        @"^(?<map>.+?) +n=\d+ write_ns_per_op=(?<put>\d+) read_ns_per_op=(?<get>\d+)$",
        RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex FigureLine();

    /// <summary>Puts or gets of one map, taken from the program's run of the round.</summary>
    private sealed class JavaContender(JavaPeers peers, string map, Func<JavaFigures, double> select) : IContender
    {
        public string Name => map;

        public void WarmUp()
        {
            // The program warms itself up in every run.
        }

        public Sample Measure(int round)
        {
            // From outside, the time of one part of the program is known, but not the processor time.
            var ns = select(peers.FiguresOf(map, round));
            return new Sample(CpuNs: ns, WallNs: ns, BytesAllocated: 0);
        }

        public void Dispose()
        {
        }
    }
}

/// <summary>Nanoseconds per operation, as the program of the Java peers prints them.</summary>
internal sealed record JavaFigures(double PutNs, double GetNs);
