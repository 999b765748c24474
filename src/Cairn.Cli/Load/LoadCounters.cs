using Cairn.Server.Metrics;

namespace Cairn.Cli.Load;

/// <summary>The counters of one worker. Only the worker writes them. Other threads may read them, and may miss the latest counts.</summary>
internal sealed class LoadCounters
{
    public long Requests { get; set; }

    /// <summary>Gets or sets the number of keys that were requested and answered.</summary>
    public long Gets { get; set; }

    public long Hits { get; set; }

    public long Sets { get; set; }

    public long Removals { get; set; }

    /// <summary>Gets or sets the number of requests that the server answered with an error.</summary>
    public long Errors { get; set; }

    /// <summary>Gets or sets the number of values that did not match their keys.</summary>
    public long WrongValues { get; set; }

    public long BytesSent { get; set; }

    public long BytesReceived { get; set; }

    /// <summary>Gets or sets the number of requests whose reply was lost with a connection.</summary>
    public long LostRequests { get; set; }

    public LatencyHistogram GetLatencies { get; private init; } = new();

    public LatencyHistogram SetLatencies { get; private init; } = new();

    public long Operations => Gets + Sets;

    /// <summary>Returns the sum of the counters of several workers.</summary>
    public static LoadCounters Sum(IEnumerable<LoadCounters> all)
    {
        var sum = new LoadCounters();
        foreach (LoadCounters one in all)
        {
            sum.Requests += one.Requests;
            sum.Gets += one.Gets;
            sum.Hits += one.Hits;
            sum.Sets += one.Sets;
            sum.Removals += one.Removals;
            sum.Errors += one.Errors;
            sum.WrongValues += one.WrongValues;
            sum.BytesSent += one.BytesSent;
            sum.BytesReceived += one.BytesReceived;
            sum.LostRequests += one.LostRequests;
            sum.GetLatencies.Add(one.GetLatencies);
            sum.SetLatencies.Add(one.SetLatencies);
        }

        return sum;
    }

    public LoadCounters Since(LoadCounters earlier) => new()
    {
        Requests = Requests - earlier.Requests,
        Gets = Gets - earlier.Gets,
        Hits = Hits - earlier.Hits,
        Sets = Sets - earlier.Sets,
        Removals = Removals - earlier.Removals,
        Errors = Errors - earlier.Errors,
        WrongValues = WrongValues - earlier.WrongValues,
        BytesSent = BytesSent - earlier.BytesSent,
        BytesReceived = BytesReceived - earlier.BytesReceived,
        LostRequests = LostRequests - earlier.LostRequests,
        GetLatencies = GetLatencies.Since(earlier.GetLatencies),
        SetLatencies = SetLatencies.Since(earlier.SetLatencies),
    };
}
