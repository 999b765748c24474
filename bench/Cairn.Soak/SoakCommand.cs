using System.CommandLine;
using System.Globalization;
using Cairn.Soak.Drift;
using Cairn.Soak.Load;
using Cairn.Soak.Pressure;
using Cairn.Soak.Reporting;
using Cairn.Soak.Running;

namespace Cairn.Soak;

/// <summary>Parses the command line and executes it.</summary>
internal static class SoakCommand
{
    private static readonly Option<DirectoryInfo> Folder = new("--folder")
    {
        Description = "Holds stores, samples and state. A later call with the same folder continues.",
        HelpName = "DIR",
        Required = true,
    };

    public static RootCommand Create() => new(
        "Loads two servers for hours, kills one of them at random, and looks for memory, descriptors, files and latencies that grow.")
    {
        Run(),
        Report(),
        Pressure(),
        Embedded(),
    };

    private static Command Run()
    {
        var tool = new Option<FileInfo>("--tool") { Description = "The tool's program.", HelpName = "FILE", Required = true };
        var minutes = new Option<double>("--minutes")
        {
            Description = "Length of a piece in minutes, 0.3 to 1440. Default 20.",
            HelpName = "N",
            DefaultValueFactory = _ => 20,
        };
        var pieces = new Option<int>("--pieces") { Description = "Pieces to run. Default 1.", HelpName = "N", DefaultValueFactory = _ => 1 };
        var rate = new Option<int>("--rate")
        {
            Description = "Requests a second of the clients that check every answer, over both servers. Default 1000.",
            HelpName = "N",
            DefaultValueFactory = _ => 1_000,
        };
        var commit = new Option<string>("--commit") { Description = "Names the version that is tested, for the report.", HelpName = "TEXT", DefaultValueFactory = _ => "" };
        Require(minutes, value => value is >= 0.3 and <= 1440, "--minutes must be 0.3 to 1440.");
        Require(pieces, value => value is >= 1 and <= 100_000, "--pieces must be 1 to 100000.");
        Require(rate, value => value is >= 2 and <= 100_000, "--rate must be 2 to 100000.");

        var command = new Command("run", "Runs pieces, then prints the report. Ctrl-C ends the piece at hand, which counts. Exit code 1: a fault, or a figure that grows.")
        {
            Folder, tool, minutes, pieces, rate, commit,
        };
        command.SetAction((parsed, cancellationToken) => Task.FromResult(Run(
            new SoakOptions
            {
                Folder = parsed.GetRequiredValue(Folder).FullName,
                Tool = parsed.GetRequiredValue(tool).FullName,
                Piece = TimeSpan.FromMinutes(parsed.GetValue(minutes)),
                Pieces = parsed.GetValue(pieces),
                RequestsPerSecond = parsed.GetValue(rate),
            },
            parsed.GetValue(commit)!,
            cancellationToken)));
        return command;
    }

    private static Command Report()
    {
        var command = new Command("report", "Prints the report of a folder. Exit code 1: a fault, or a figure that grows.") { Folder };
        command.SetAction(parsed => Report(SoakFolder.Open(parsed.GetRequiredValue(Folder).FullName)));
        return command;
    }

    private static Command Pressure()
    {
        var tool = new Option<FileInfo>("--tool") { Description = "The tool's program.", HelpName = "FILE", Required = true };
        var readers = Number("--slow-readers", 10_000, "Clients that ask for 1 MiB and read 2 KiB a second.");
        var greedy = Number("--greedy", 1_000, "Clients that ask for more than they read.");
        var steady = Number("--steady", 1_000, "Clients with a fixed rate, whose latency is measured.");
        var rounds = Number("--rounds", 3, "How often the crowd comes and leaves.");
        var seconds = Number("--seconds", 5, "Length of each measurement.");
        var apart = new Option<bool>("--apart")
        {
            Description = "The crowd is at a second server, behind the first one: what machine and clients cost without the server.",
        };
        var command = new Command("pressure", "Measures the latency of well-behaved clients alone and beside a crowd of slow and greedy ones, and the server's memory.")
        {
            tool, readers, greedy, steady, rounds, seconds, apart,
        };
        command.SetAction(parsed =>
        {
            string folder = Directory.CreateTempSubdirectory("cairn-pressure-").FullName;
            try
            {
                Console.Write(PressureReport.Of(PressureRun.Run(new PressureOptions
                {
                    Tool = [parsed.GetRequiredValue(tool).FullName],
                    Folder = folder,
                    SlowReaders = parsed.GetValue(readers),
                    GreedyClients = parsed.GetValue(greedy),
                    SteadyClients = parsed.GetValue(steady),
                    Rounds = parsed.GetValue(rounds),
                    Phase = TimeSpan.FromSeconds(parsed.GetValue(seconds)),
                    IsCrowdApart = parsed.GetValue(apart),
                })));
            }
            finally
            {
                Directory.Delete(folder, recursive: true);
            }
        });
        return command;

        static Option<int> Number(string name, int usual, string description)
        {
            var option = new Option<int>(name) { Description = $"{description} Default {LineConnection.Text(usual)}.", HelpName = "N", DefaultValueFactory = _ => usual };
            Require(option, value => value is >= 1 and <= 100_000, $"{name} must be 1 to 100000.");
            return option;
        }
    }

    // The command that runs this program as the second process of a store.
    private static Command Embedded()
    {
        var store = new Argument<string>("STORE");
        var seed = new Argument<int>("SEED");
        var command = new Command(EmbeddedWorker.Role) { store, seed };
        command.Hidden = true;
        command.SetAction(parsed => EmbeddedWorker.Work(parsed.GetRequiredValue(store), parsed.GetRequiredValue(seed)));
        return command;
    }

    private static int Run(SoakOptions options, string commit, CancellationToken stop)
    {
        SoakFolder folder = SoakFolder.Open(options.Folder);
        Say(string.Create(CultureInfo.InvariantCulture, $"{options.Folder}: {folder.State.Pieces} pieces, {folder.State.Age} so far; seed {folder.State.Seed}"));
        using var run = new SoakRun(options, folder, Say);
        bool isRight = run.Run(commit, stop);
        return Math.Max(Report(folder), isRight ? 0 : 1);
    }

    private static int Report(SoakFolder folder)
    {
        Console.Write(SoakReport.Of(folder));
        IReadOnlyList<PieceSummary> pieces = folder.Pieces();
        return pieces.Any(piece => piece.Faults.Count > 0) || DriftCheck.Of(pieces).Any(finding => finding.IsDrift) ? 1 : 0;
    }

    private static void Say(string line) => Console.WriteLine(line);

    private static void Require<T>(Option<T> option, Func<T, bool> isValid, string message) => option.Validators.Add(result =>
    {
        if (!isValid(result.GetValueOrDefault<T>()))
        {
            result.AddError(message);
        }
    });
}
