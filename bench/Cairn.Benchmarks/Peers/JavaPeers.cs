using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Peers;

// Maps of the JVM that keep their entries in a file. Every round starts their program again. The program prints a line for each map: nanoseconds
// per put and per get of n integers. The figures come from the last of its own rounds, when the JVM is warm. Maps that commit every put take
// milliseconds for each, so they put fewer integers. This class does not wait for lines after the last one that it needs.
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

    /// <param name="peersFolder">The folder with <c>Peers.java</c>, <c>jvmargs</c> and <c>lib</c>. It is not changed.</param>
    /// <param name="folder">The folder for classes and maps. It is deleted on disposal.</param>
    /// <param name="entries">The number of integers in each map.</param>
    /// <exception cref="PeerUnavailableException">The peers are missing, or no Java development kit is installed.</exception>
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

    /// <summary>Returns a contender that reports the program's figures for puts into <paramref name="map"/>.</summary>
    public IContender Puts(string map) => Enter(map, figures => figures.PutNs);

    /// <summary>Returns a contender that reports the program's figures for gets from <paramref name="map"/>.</summary>
    public IContender Gets(string map) => Enter(map, figures => figures.GetNs);

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>Parses one line of the program; <see langword="null"/> for lines of maps that no case compares with.</summary>
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

    /// <summary>Reports puts or gets of one map from the program's run of the round.</summary>
    private sealed class JavaContender(JavaPeers peers, string map, Func<JavaFigures, double> select) : IContender
    {
        public string Name => map;

        public void WarmUp()
        {
            // The program warms up in every run.
        }

        public Sample Measure(int round)
        {
            // The elapsed time of one part of the program is known, but not its processor time.
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
