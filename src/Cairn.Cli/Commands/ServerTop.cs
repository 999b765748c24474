using Cairn.Cli.Clients;
using Cairn.Cli.Reports;

namespace Cairn.Cli.Commands;

/// <summary>Runs `cairn top` for a server. Samples it periodically, and continues while the server is unreachable.</summary>
internal sealed class ServerTop(Invocation invocation, ServerTarget target, TimeSpan interval, int looks) : IDisposable
{
    private const int LinesPerHeading = 20;
    private static readonly TimeSpan KeyInterval = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan ShortestInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestInterval = TimeSpan.FromDays(1);

    private ServerTarget _target = target;
    private ServerLink? _link;
    private string _serverName = "";
    private ServerSample? _before;
    private long _lookedAt;

    private ToolConsole Console => invocation.Console;

    public void ShowScreen()
    {
        // If the server cannot be reached at first, the command fails before the screen appears.
        ServerActivity activity = FirstLook();
        var view = new ServerView { Interval = interval };
        ToolOutput output = invocation.Output;
        output.Write(ActivityScreen.Enter);
        try
        {
            for (int left = looks; ; activity = Look())
            {
                Draw(activity, view);
                if (left != int.MaxValue && --left == 0)
                {
                    return;
                }

                if (!WaitForNext(activity, ref view))
                {
                    return;
                }
            }
        }
        finally
        {
            output.Write(ActivityScreen.Leave);
            output.Flush();
        }
    }

    public void PrintLines()
    {
        _ = FirstLook();
        for (int printed = 0; printed < looks; printed++)
        {
            Console.Wait(interval);
            ServerActivity activity = Look();
            if (invocation.IsJson)
            {
                WriteJson(activity);
            }
            else
            {
                if (printed % LinesPerHeading == 0)
                {
                    invocation.Output.WriteLine(
                        $"{"time",-24} {"operations/s",12} {"hits",8} {"received/s",11} {"sent/s",11} {"evictions/s",12} {"items",14} {"memory",10} {"conns",7}");
                }

                WriteLine(activity);
            }

            invocation.Output.Flush();
        }
    }

    public void Dispose() => _link?.Dispose();

    private ServerActivity FirstLook()
    {
        _link = ServerLink.Open(_target);
        _target = _target with { Protocol = _link.Protocol };
        _serverName = _link.ServerName;
        _before = ServerSample.Take(_link);
        _lookedAt = Console.Clock.GetTimestamp();
        return ServerActivity.Between(_before, _before, Console.Clock.GetUtcNow(), TimeSpan.FromSeconds(1));
    }

    private ServerActivity Look()
    {
        DateTimeOffset now = Console.Clock.GetUtcNow();
        try
        {
            if (_link is null)
            {
                _link = ServerLink.Open(_target);
                _serverName = _link.ServerName;
            }

            ServerSample sample = ServerSample.Take(_link);
            var activity = ServerActivity.Between(_before, sample, now, Console.Clock.GetElapsedTime(_lookedAt));
            _before = sample;
            _lookedAt = Console.Clock.GetTimestamp();
            return activity;
        }
        catch (ToolException failure) when (failure.ExitCode == ExitCode.Server)
        {
            return Away(now, failure.Message);
        }
        catch (Exception failure) when (ServerLink.IsConnectionFailure(failure))
        {
            return Away(now, ServerLink.Unreachable(_target.Address, failure).Message);
        }
    }

    private ServerActivity Away(DateTimeOffset now, string reason)
    {
        _link?.Dispose();
        _link = null;
        _before = null;
        return ServerActivity.Away(now, reason);
    }

    private void Draw(ServerActivity activity, ServerView view)
    {
        invocation.Output.Write(ServerScreen.Draw(_target.Address.ToString(), _serverName, activity, view, Console.Width, Console.Height));
        invocation.Output.Flush();
    }

    // Returns false if the user quits.
    private bool WaitForNext(ServerActivity activity, ref ServerView view)
    {
        (int, int) size = (Console.Width, Console.Height);
        for (TimeSpan waited = TimeSpan.Zero; waited < view.Interval || view.IsPaused; waited += KeyInterval)
        {
            ServerView seen = view;
            while (Console.TryReadKey() is { } key)
            {
                if (key is 'q' or 'Q' or '\e')
                {
                    return false;
                }

                int commands = activity.Sample?.Operations.Count ?? 0;
                view = key switch
                {
                    ' ' or 'p' => view with { IsPaused = !view.IsPaused },
                    'h' or '?' => view with { ShowsKeys = !view.ShowsKeys },
                    ToolConsole.UpKey or 'k' => view with { Scrolled = Math.Max(0, view.Scrolled - 1) },
                    ToolConsole.DownKey or 'j' => view with { Scrolled = Math.Min(Math.Max(0, commands - 1), view.Scrolled + 1) },
                    '+' => view with { Interval = view.Interval * 2 < LongestInterval ? view.Interval * 2 : LongestInterval },
                    '-' => view with { Interval = view.Interval / 2 > ShortestInterval ? view.Interval / 2 : ShortestInterval },
                    _ => view,
                };
            }

            if (view != seen || size != (Console.Width, Console.Height))
            {
                size = (Console.Width, Console.Height);
                Draw(activity, view);
            }

            Console.Wait(KeyInterval);
        }

        return true;
    }

    private void WriteLine(ServerActivity activity)
    {
        if (activity.Sample is not { } sample)
        {
            invocation.Output.WriteLine($"{Figures.Moment(activity.At),-24} away: {activity.Absence}");
            return;
        }

        string hits = activity.HitRatio is { } ratio ? Figures.Percent(ratio) : "-";
        invocation.Output.WriteLine(
            $"{Figures.Moment(activity.At),-24} {Rate(activity.AllPerSecond),12} {hits,8} {Figures.Bytes((long)activity.BytesReceivedPerSecond),11} " +
            $"{Figures.Bytes((long)activity.BytesSentPerSecond),11} {Rate(activity.EvictionsPerSecond),12} {Figures.Count(sample.Items),14} " +
            $"{Figures.Bytes(sample.MemoryBytes),10} {Figures.Count(sample.Connections),7}{(activity.IsRestarted ? "  restarted" : "")}");
    }

    private static string Rate(double perSecond) => perSecond.ToString("N0", CultureInfo.InvariantCulture);

    private void WriteJson(ServerActivity activity)
    {
        using var line = new JsonLine(invocation.Output);
        line.Writer.WriteString("at"u8, Figures.Moment(activity.At));
        line.Writer.WriteString("server"u8, _target.Address.ToString());
        line.Writer.WriteString("name"u8, _serverName);
        line.Writer.WriteBoolean("up"u8, activity.Sample is not null);
        if (activity.Sample is not { } sample)
        {
            line.Writer.WriteString("problem"u8, activity.Absence);
            return;
        }

        line.Writer.WriteNumber("uptimeSeconds"u8, (long)sample.Uptime.TotalSeconds);
        line.Writer.WriteNumber("operationsPerSecond"u8, Math.Round(activity.AllPerSecond, 1));
        line.Writer.WriteStartObject("commands"u8);
        foreach ((string name, double rate) in activity.OperationsPerSecond)
        {
            line.Writer.WriteNumber(name, Math.Round(rate, 1));
        }

        line.Writer.WriteEndObject();
        line.Writer.WriteRatio("hitRatio"u8, activity.HitRatio);
        line.Writer.WriteNumber("bytesReceivedPerSecond"u8, Math.Round(activity.BytesReceivedPerSecond, 1));
        line.Writer.WriteNumber("bytesSentPerSecond"u8, Math.Round(activity.BytesSentPerSecond, 1));
        line.Writer.WriteNumber("evictionsPerSecond"u8, Math.Round(activity.EvictionsPerSecond, 1));
        line.Writer.WriteNumber("expirationsPerSecond"u8, Math.Round(activity.ExpirationsPerSecond, 1));
        line.Writer.WriteNumber("items"u8, sample.Items);
        line.Writer.WriteNumber("memoryBytes"u8, sample.MemoryBytes);
        line.Writer.WriteNumber("memoryLimitBytes"u8, sample.MemoryLimitBytes);
        line.Writer.WriteNumber("connections"u8, sample.Connections);
        line.Writer.WriteStartObject("latenciesUs"u8);
        foreach ((string name, CommandLatency latency) in sample.Latencies)
        {
            line.Writer.WriteStartObject(name);
            line.Writer.WriteNumber("p50"u8, latency.P50);
            line.Writer.WriteNumber("p99"u8, latency.P99);
            line.Writer.WriteNumber("p999"u8, latency.P999);
            line.Writer.WriteEndObject();
        }

        line.Writer.WriteEndObject();
    }
}
