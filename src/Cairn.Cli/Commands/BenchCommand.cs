using System.Net.Sockets;
using Cairn.Cli.Clients;
using Cairn.Cli.Load;

namespace Cairn.Cli.Commands;

internal sealed class BenchCommand : ToolCommand
{
    private const int MaxKeys = 1_000_000_000;
    private const int MaxBytes = 64 << 20;

    // The descriptors in addition to the connections: each assembly of the runtime takes two.
    private const int OwnDescriptors = 128;

    private readonly ServerArguments _server = new();
    private readonly Option<bool> _remote = new Flag("--allow-remote", "Load a server that is not on this machine.");
    private readonly ValueOption<int> _connections = ValueOptions.Count("--connections", "Connections. Default 50.", 1, 100_000);
    private readonly ValueOption<int> _pipeline = ValueOptions.Count("--pipeline", "Outstanding requests on each connection. Default 1.", 1, 10_000);
    private readonly ValueOption<int> _threads = ValueOptions.Count("--threads", "Threads. Default: one per two cores.", 1, 1024);
    private readonly ValueOption<TimeSpan> _duration = ValueOptions.Time("--duration", "How long to measure. Default 10s.");
    private readonly ValueOption<int> _requests = ValueOptions.Count("--requests", "Measure this number of requests, instead of a time.", 1, int.MaxValue);
    private readonly ValueOption<TimeSpan> _warmup = ValueOptions.Time("--warmup", "How long to run before measuring. Default 1s; none with --requests.");
    private readonly ValueOption<int> _keys = ValueOptions.Count("--keys", "Keys to choose from. Default 100000.", 1, MaxKeys);

    private readonly ValueOption<(int Min, int Max)> _valueSize = new(
        "--value-size", "SIZE", "Bytes of a value, or a range such as 10-4KiB. With a range, each key has its own size. Default 100.",
        $"a size up to 64MiB or two with a hyphen between them ({ByteSize.Form})", TryParseSizes);

    private readonly ValueOption<int> _setPercent = ValueOptions.Count("--set-percent", "Percentage of sets; the other requests are gets. Default 10.", 0, 100);

    private readonly ValueOption<double> _distribution = new(
        "--distribution", "NAME", "How keys are chosen: uniform, or zipf:EXPONENT, which chooses few keys often. Default uniform.",
        "uniform, or zipf: with an exponent above 0 and up to 10, such as zipf:0.99", TryParseDistribution);

    private readonly ValueOption<int> _multiget = ValueOptions.Count("--multiget", "Keys in one get. Default 1.", 1, 1000);

    private readonly ValueOption<int> _rate = ValueOptions.Count(
        "--rate", "Send this number of requests per second, even if earlier ones have no reply yet. Latencies count from the time at which each request was due. Default: send after each reply.", 1, int.MaxValue);

    private readonly Flag _load = new("--load", "Set every key before measuring.");
    private readonly Flag _keep = new("--keep", "Leave the keys on the server; otherwise they are removed at the end.");
    private readonly Flag _verify = new("--verify", "Check the size and the content of each value.");
    private readonly ValueOption<int> _seed = ValueOptions.Count("--seed", "The same seed sends the same requests on each connection. Default 1.", 0, int.MaxValue);

    public BenchCommand()
        : base("bench", "Loads a server that speaks the memcached protocol or RESP, and measures its speed.")
    {
        _server.AddTo(this);
        foreach (Option option in (ReadOnlySpan<Option>)[
            _remote, _connections, _pipeline, _threads, _duration, _requests, _warmup, _keys, _valueSize, _setPercent, _distribution,
            _multiget, _rate, _load, _keep, _verify, _seed])
        {
            Add(option);
        }
    }

    public override bool UsesStore => false;

    public override string Details =>
        $"Works with Cairn, memcached, Redis, Valkey, Garnet and others. The default ADDRESS is {ServerArguments.DefaultAddress}. Uses only keys that begin with {LoadPlan.KeyPrefix}, and removes them at the end. A full server evicts other keys for them. Loads a server on another machine only with --allow-remote. Ctrl-C ends it and prints the figures so far. An operation is one key that was read or written. Latencies are those of requests.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn bench --load", "A quick test of the server on the memcached port."),
        new("cairn bench 6379 --load --pipeline 16 --set-percent 0", "Gets in batches, from the server on the Redis port."),
        new("cairn bench 11211 --load --keys 1000000 --distribution zipf:0.99 --value-size 50-2KiB", "A load that resembles many caches."),
        new("cairn bench unix:/run/cairn.sock --load --rate 20000 --duration 1m", "Latencies below the highest load."),
        new("cairn bench --load --verify --json | jq .latency.all.p99Us", "For programs."),
    ];

    public override string JsonShape =>
        """{"server", "name", "protocol", "connections", "pipeline", "threads", "keys", "minValueBytes", "maxValueBytes", "setPercent", "distribution", "keysPerGet", "rate", "seed", "complete", "seconds", "requests", "operations", "operationsPerSecond", "gets", "hits", "hitRatio", "sets", "bytesSentPerSecond", "bytesReceivedPerSecond", "processorSeconds", "errors": {TEXT: COUNT}, "lostConnections", "lostRequests", "wrongValues", "latency": {"all": LATENCY, "get": LATENCY, "set": LATENCY}}, where LATENCY is {"count", "meanUs", "p50Us", "p90Us", "p99Us", "p999Us", "maxUs", "histogram": [{"fromUs", "toUs", "count"}]}.""";

    public override string MeaningOfNo => "the server answered with errors, lost connections or, with --verify, gave wrong values";

    public override int Run(Invocation invocation)
    {
        LoadPlan plan = ReadPlan(invocation);
        DescriptorLimit.RequireFor(OwnDescriptors + plan.Connections, $"'cairn bench' with {plan.Connections.ToString(CultureInfo.InvariantCulture)} connections");
        ThrowIfRemote(plan.Target.Address, invocation.Get(_remote));

        // Registered before anything is sent, so that an interruption can clean up.
        CancellationToken interruption = invocation.Console.Interruption;
        LoadResult result;
        using (var run = new LoadRun(plan, invocation.Console, invocation.IsJson))
        {
            result = run.Run();
        }

        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            LoadReport.WriteJson(line.Writer, result);
        }
        else
        {
            LoadReport.WriteText(invocation.Output, result);
        }

        return interruption.IsCancellationRequested ? invocation.Console.InterruptedCode
            : !result.IsComplete ? ExitCode.Server
            : result.IsFlawless ? ExitCode.Done
            : ExitCode.No;
    }

    private static void ThrowIfRemote(ServerAddress address, bool isAllowed)
    {
        try
        {
            if (!isAllowed && !address.IsLocal())
            {
                throw ToolException.Usage(
                    $"{address} is not on this machine: the load takes capacity of the server and the network from their other users, and can evict their entries; use --allow-remote if you want that");
            }
        }
        catch (SocketException failure)
        {
            throw ServerLink.Unreachable(address, failure);
        }
    }

    private LoadPlan ReadPlan(Invocation invocation)
    {
        if (invocation.IsGiven(_requests) && (invocation.IsGiven(_duration) || invocation.IsGiven(_warmup)))
        {
            throw ToolException.Usage("--requests takes the place of --duration and --warmup");
        }

        var plan = new LoadPlan { Target = _server.ReadOrDefault(invocation) };
        (int min, int max) = invocation.Get(_valueSize) ?? (plan.MinValueBytes, plan.MaxValueBytes);
        int connections = invocation.Get(_connections) ?? plan.Connections;
        return plan with
        {
            Connections = connections,
            Pipeline = invocation.Get(_pipeline) ?? plan.Pipeline,
            Threads = Math.Min(connections, invocation.Get(_threads) ?? Math.Max(1, Environment.ProcessorCount / 2)),
            Duration = Within("--duration", invocation.Get(_duration) ?? plan.Duration, TimeSpan.FromMilliseconds(1)),
            Warmup = Within("--warmup", invocation.Get(_warmup) ?? plan.Warmup, TimeSpan.Zero),
            Requests = invocation.Get(_requests),
            Keys = invocation.Get(_keys) ?? plan.Keys,
            MinValueBytes = min,
            MaxValueBytes = max,
            SetPercent = invocation.Get(_setPercent) ?? plan.SetPercent,
            ZipfExponent = invocation.Get(_distribution) is > 0 and var exponent ? exponent : null,
            KeysPerGet = invocation.Get(_multiget) ?? plan.KeysPerGet,
            RequestsPerSecond = invocation.Get(_rate),
            IsFilledFirst = invocation.Get(_load),
            IsKept = invocation.Get(_keep),
            IsVerified = invocation.Get(_verify),
            Seed = (ulong)(invocation.Get(_seed) ?? 1),
        };
    }

    private static TimeSpan Within(string option, TimeSpan time, TimeSpan least) =>
        time >= least && time <= TimeSpan.FromDays(7)
            ? time
            : throw ToolException.Usage($"{option} must be {(least == TimeSpan.Zero ? "0s" : "1ms")} to 7d");

    private static bool TryParseSizes(string text, out (int Min, int Max) sizes)
    {
        int hyphen = text.IndexOf('-', StringComparison.Ordinal);
        sizes = default;
        if (!ByteSize.TryParse(hyphen < 0 ? text : text.AsSpan(0, hyphen), out long min)
            || !ByteSize.TryParse(hyphen < 0 ? text : text.AsSpan(hyphen + 1), out long max)
            || min > max || max > MaxBytes)
        {
            return false;
        }

        sizes = ((int)min, (int)max);
        return true;
    }

    // 0 means uniform.
    private static bool TryParseDistribution(string text, out double exponent)
    {
        const string Zipf = "zipf:";
        const double Steepest = 10;
        exponent = 0;
        return text.Equals("uniform", StringComparison.OrdinalIgnoreCase)
            || (text.StartsWith(Zipf, StringComparison.OrdinalIgnoreCase)
                && double.TryParse(text.AsSpan(Zipf.Length), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out exponent)
                && exponent is > 0 and <= Steepest);
    }
}
