using System.CommandLine;
using System.CommandLine.Help;
using System.Globalization;
using Cairn.Benchmarks.Bookshop;
using Cairn.Benchmarks.Formats;
using Cairn.Benchmarks.Hybrid;
using Cairn.Benchmarks.Map;
using Cairn.Benchmarks.ReadableFile;
using Cairn.Benchmarks.RedisClients;
using Cairn.Benchmarks.Reporting;
using Cairn.Benchmarks.Server;
using Cairn.Benchmarks.Store;
using Spectre.Console;

namespace Cairn.Benchmarks;

/// <summary>Parses the command line of <c>bench/run</c> and executes it.</summary>
internal static class BenchmarkCommand
{
    private const string PeersVariable = "CAIRN_PEERS";

    /// <summary>Gets all areas that can be measured. The help of <c>bench/run</c> describes each.</summary>
    public static IReadOnlyList<IArea> Areas { get; } =
    [
        new StoreArea(), new HybridArea(), new MapArea(), new ServerArea(), new FileArea(), new RedisArea(), new FormatsArea(),
        new BookshopArea(),
    ];

    public static Command Create()
    {
        var area = new Argument<string>("AREA") { Description = "What to measure." };
        area.AcceptOnlyFromAmong([.. Areas.Select(known => known.Name)]);
        var quick = new Option<bool>("--quick")
        {
            Description = "End within a minute: fewer entries and rounds. The figures are not for quoting.",
        };
        var json = new Option<FileInfo?>("--json") { Description = "Also write the findings to this file.", HelpName = "FILE" };
        var rounds = new Option<int?>("--rounds")
        {
            Description = "Rounds of each case. By default each area chooses.",
            HelpName = "N",
        };
        rounds.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1 && result.GetValueOrDefault<int?>() is < 1)
            {
                result.AddError("--rounds takes a number from 1.");
            }
        });
        var only = new Option<string?>("--only")
        {
            Description = "Measure only the groups of cases whose name holds this text, as progress shows it: \"set, uniform\".",
            HelpName = "TEXT",
        };
        var folder = new Option<DirectoryInfo?>("--dir")
        {
            Description = "Where stores and peers keep their files during the run; on a real disk. Default: the folder for temporary files.",
            HelpName = "DIR",
        };
        var peers = new Option<DirectoryInfo?>("--peers")
        {
            Description = $"The Java peers. Default: {PeersVariable}, else ../shared/peers/mapdb beside the repository.",
            HelpName = "DIR",
        };
        var serverPeers = new Option<string[]>("--peer")
        {
            Description = "Area server: compare with this memcached or Redis too. PATH can be a command line with {port}. May be given again.",
            HelpName = "KIND:NAME=PATH",
        };
        serverPeers.Validators.Add(result =>
        {
            if (result.Tokens.FirstOrDefault(token => NamedPeer.Parse(token.Value) is null) is { } wrong)
            {
                result.AddError($"--peer takes memcached:NAME=PATH or redis:NAME=PATH, where PATH can be a command line with {{port}}; not '{wrong.Value}'.");
            }
        });
        var chart = new Option<FileInfo?>("--chart")
        {
            Description = "Area bookshop: draws the figures, too, as this SVG file.",
            HelpName = "FILE.svg",
        };
        var realTime = new Option<bool>("--real-time")
        {
            Description = "Areas server and bookshop: servers and load are not interrupted while they are measured. For a machine that others use; takes root.",
        };

        var command = new Command(
            "bench/run",
            "Runs one benchmark area with its peers in turn, and prints ratios: medians over rounds of the subject's cost by the peer's in the same round. "
            + "Exit code 1: some case could not be measured; a goal that is not met does not fail the run.")
        {
            area, quick, json, rounds, only, folder, peers, serverPeers, realTime, chart, new HelpOption(),
        };
        command.SetAction(parsed =>
        {
            var root = RepositoryRoot();
            var settings = new RunSettings
            {
                Root = root,
                IsQuick = parsed.GetValue(quick),
                Rounds = parsed.GetValue(rounds),
                Only = parsed.GetValue(only),
                Folder = parsed.GetValue(folder)?.FullName ?? Path.GetTempPath(),
                PeersFolder = parsed.GetValue(peers)?.FullName ?? FolderFrom(PeersVariable, root, "../shared/peers/mapdb"),
                ServerPeers = [.. (parsed.GetValue(serverPeers) ?? []).Select(text => NamedPeer.Parse(text)!)],
                IsRealTime = parsed.GetValue(realTime),
            };
            return Run(Areas.Single(known => known.Name == parsed.GetRequiredValue(area)), settings, parsed.GetValue(json), parsed.GetValue(chart), root);
        });
        return command;
    }

    private static int Run(IArea area, RunSettings settings, FileInfo? json, FileInfo? chart, string root)
    {
        // All files of a run are in one folder, which is deleted at the end of the run.
        var folder = Directory.CreateDirectory(
            Path.Combine(settings.Folder, string.Create(CultureInfo.InvariantCulture, $"cairn-bench-{Environment.ProcessId}")));
        try
        {
            using var log = RunLog.OnStandardError();
            var run = new AreaRun(settings with { Folder = folder.FullName }, log);
            area.Run(run);
            log.Dispose();

            Print(area, run, root, json, chart);
            return run.HasFailures ? 1 : 0;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static void Print(IArea area, AreaRun run, string root, FileInfo? json, FileInfo? chart)
    {
        var report = new Report(
            area.Name,
            DateTime.UtcNow.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture),
            BenchmarkMachine.DescribeCommit(root),
            BenchmarkMachine.DescribeMachine(),
            CommandFor(area, run.Settings),
            [.. run.Findings.Select(ReportRow.Of)])
        {
            Figures = run.Figures.Count > 0 ? run.Figures : null,
        };

        var console = ReportTable.StandardOutput();
        console.MarkupLineInterpolated($"{report.Command} at {report.Commit} on {report.Date}: {report.Machine}");
        if (run.Figures.Count > 0)
        {
            FigureTable.Write(console, run.Figures);
        }

        ReportTable.Write(console, run.Findings);
        if (run.Settings.IsQuick)
        {
            console.MarkupLine("A quick run: fewer entries and rounds. These figures are not for quoting.");
        }

        if (json is not null)
        {
            using var target = json.Create();
            report.WriteTo(target);
        }

        if (chart is not null && run.Figures.Count > 0)
        {
            string source = $"{report.Command} at {report.Commit} on {report.Date}: {report.Machine}";
            File.WriteAllText(chart.FullName, FigureChart.ToSvg($"{area.Name}: requests per second", source, run.Figures));
        }
    }

    // The command without paths of this machine.
    private static string CommandFor(IArea area, RunSettings settings)
    {
        var quick = settings.IsQuick ? " --quick" : string.Empty;
        var rounds = settings.Rounds is { } number ? string.Create(CultureInfo.InvariantCulture, $" --rounds {number}") : string.Empty;
        var only = settings.Only is { } text ? $" --only \"{text}\"" : string.Empty;
        var peers = string.Concat(settings.ServerPeers.Select(peer => $" --peer {(peer.Protocol == WireProtocol.Resp ? "redis" : "memcached")}:{peer.Name}=..."));
        var realTime = settings.IsRealTime ? " --real-time" : string.Empty;
        return $"bench/run {area.Name}{quick}{rounds}{only}{peers}{realTime}";
    }

    private static string FolderFrom(string variable, string root, string besideRoot) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } named ? named : Path.GetFullPath(Path.Combine(root, besideRoot));

    internal static string RepositoryRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Cairn.slnx")))
            {
                return folder.FullName;
            }
        }

        throw new InvalidOperationException("Benchmarks run from a clone of the repository.");
    }
}
