using Cairn.Cli.Clients;

namespace Cairn.Cli.Commands;

internal sealed class TraceCommand : ToolCommand
{
    private const long DefaultBytes = 256L << 20;

    private readonly ServerArguments _server = new();
    private readonly Argument<string> _action = new("ACTION") { Description = "record." };
    private readonly Argument<string> _address = new("ADDRESS") { Description = $"The server: {ServerAddress.Form}." };
    private readonly Argument<string> _file = new("FILE") { Description = "The file to write. A file of this name is replaced at the end." };
    private readonly ValueOption<TimeSpan> _time = ValueOptions.Time("--time", "How long to record: 30s, 5m, 1h. Default: until Ctrl+C, or until the file is full.");
    private readonly ValueOption<long> _size = ValueOptions.Size("--size", "The largest size of the file. Default 256 MiB, 15 million requests.");

    public TraceCommand()
        : base("trace", "Records which keys the clients of a server read, as hashes, to compare eviction policies and capacities.")
    {
        Add(_action);
        Add(_address);
        Add(_file);
        Add(_time);
        Add(_size);
        _server.AddOptionsTo(this);
    }

    public override bool UsesStore => false;

    public override string UsageWords => "record ADDRESS FILE";

    public override string Details =>
        "Each line of the file is one read of a key: a hash under a random secret that is not stored. A memcached and the memcached port of cairn serve report reads by watch; " +
        "cairn serve also reports the reads of RESP clients. Other servers that speak RESP report them by MONITOR, which makes them slower. The command counts the requests that the server left out.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn trace record cache.example:11211 monday.trace --time 1h", "Records an hour."),
        new("cairn trace record redis://cache.example:6379 monday.trace --size 64MiB", "Records until the file has 64 MiB, or until Ctrl+C."),
    ];

    public override string JsonShape => """{"requests", "skipped"}.""";

    public override int Run(Invocation invocation)
    {
        if (invocation.Get(_action) is not "record")
        {
            throw ToolException.Usage($"trace takes record, not '{invocation.Get(_action)}'");
        }

        string path = invocation.Get(_file)!;
        using ServerLink link = ServerLink.Open(_server.Read(invocation, invocation.Get(_address)!));
        using ReplacedFile file = ReplacedFile.Create(path);
        using var buffer = new BufferedStream(file.Stream, 1 << 16);
        var writer = new TraceWriter(buffer, invocation.Get(_size) ?? DefaultBytes);
        Exception? broken = null;
        long skipped = 0;
        try
        {
            skipped = Record(invocation, link, writer);
        }
        catch (Exception failure) when (ServerLink.IsConnectionFailure(failure))
        {
            broken = failure;
        }

        buffer.Flush();
        file.Commit();
        if (broken is not null)
        {
            throw new ToolException(
                ExitCode.Server, $"the connection ended after {Figures.Count(writer.Requests)} requests, which are in '{path}': {broken.Message}", broken);
        }

        Write(invocation, path, writer.Requests, skipped);
        return ExitCode.Done;
    }

    private long Record(Invocation invocation, ServerLink link, TraceWriter writer)
    {
        bool isResp = link.Protocol == ServerProtocol.Resp;
        using var progress = new ProgressLine(invocation.Console, "Recording", "requests");
        using var end = CancellationTokenSource.CreateLinkedTokenSource(invocation.Console.Interruption);
        if (invocation.Get(_time) is { } time)
        {
            end.CancelAfter(time);
        }

        long skipped = 0;
        foreach (string line in link.Follow(isResp ? "MONITOR" : "watch fetchers", end.Token))
        {
            skipped += isResp ? 0 : WatchedRequest.SkippedBefore(line);
            foreach (string key in isResp ? WatchedRequest.KeysOfCommand(line) : WatchedRequest.KeysOfFetch(line))
            {
                if (writer.IsFull)
                {
                    return skipped;
                }

                writer.Add(key);
            }

            progress.Report(writer.Requests, 0, 0);
            if (writer.IsFull)
            {
                return skipped;
            }
        }

        return skipped;
    }

    private static void Write(Invocation invocation, string path, long requests, long skipped)
    {
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteNumber("requests"u8, requests);
            line.Writer.WriteNumber("skipped"u8, skipped);
            return;
        }

        invocation.Output.WriteLine(
            $"{Figures.Count(requests)} requests are in {path}" + (skipped == 0 ? "" : $"; the server left out {Figures.Count(skipped)} more"));
    }
}
