using System.Reflection;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;

namespace Cairn.Dashboard.Pages.Reports;

/// <summary>A store file, without a server, as the subject of a dashboard.</summary>
internal sealed class StoreSubject : IDashboardSubject, IDisposable
{
    private static readonly string[] s_views = ["overview", "memory", "keys"];

    private static readonly Series[] s_series =
    [
        new("hits", SeriesKind.Counter), new("misses", SeriesKind.Counter), new("sets", SeriesKind.Counter), new("removals", SeriesKind.Counter),
        new("evictions", SeriesKind.Counter), new("expirations", SeriesKind.Counter), new("entries", SeriesKind.Gauge), new("bytes", SeriesKind.Gauge),
        new("segmentBytes", SeriesKind.Gauge), new("openings", SeriesKind.Gauge),
    ];

    private readonly CairnStore _store;
    private readonly SampleHistory _history;
    private readonly Action<string> _logError;

    /// <summary>Begins to sample a store.</summary>
    public StoreSubject(CairnStore store, TimeProvider clock, Action<string> logError)
    {
        _store = store;
        _logError = logError;
        Keys = new KeyBrowser(store);
        _history = new SampleHistory(s_series, Read, clock);
    }

    /// <summary>Gets the version of this assembly, without the commit it was built from.</summary>
    public static string OwnVersion { get; } =
        typeof(StoreSubject).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "unknown";

    public string Kind => "store";

    public string Title => Path.GetFullPath(_store.Path);

    public string Version => OwnVersion;

    public IReadOnlyList<string> Channels { get; } = [""];

    public KeyBrowser? Keys { get; }

    public IReadOnlyList<string> ViewsFor(DashboardUser user) => s_views;

    public SampleHistory? HistoryOf(string channel) => channel.Length == 0 ? _history : null;

    public void WriteNow(Utf8JsonWriter writer, string channel) => StoreReport.WriteNow(writer, _store.GetStatistics());

    public bool TryWriteView(string view, Utf8JsonWriter writer, DashboardUser user) => false;

    public void LogError(string message) => _logError(message);

    public void Dispose() => _history.Dispose();

    private bool Read(int range, long[] row)
    {
        StoreStatistics s = _store.GetStatistics();
        ((ReadOnlySpan<long>)[s.Totals.Hits, s.Totals.Misses, s.Totals.Sets, s.Totals.Removals, s.Totals.Evictions, s.Totals.Expirations, s.Totals.Entries, s.Totals.Bytes, s.Totals.SegmentBytes, s.Openings]).CopyTo(row);
        return true;
    }
}
