using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;

namespace Cairn.Dashboard.Pages.Reports;

/// <summary>What a dashboard is of: a server, a store file, or the caches of an application.</summary>
internal interface IDashboardSubject
{
    /// <summary>server, store or caches; the page shows each in its own way.</summary>
    string Kind { get; }

    /// <summary>What it is called: a path, or an application's name.</summary>
    string Title { get; }

    /// <summary>The version of Cairn.</summary>
    string Version { get; }

    /// <summary>What somebody can look at, in the order of the menu.</summary>
    IReadOnlyList<string> ViewsFor(DashboardUser user);

    /// <summary>The caches whose figures are kept apart; one without a name, if there is but one thing to look at.</summary>
    IReadOnlyList<string> Channels { get; }

    /// <summary>What happened in the last 24 hours; null if there is no such channel.</summary>
    SampleHistory? HistoryOf(string channel);

    /// <summary>The keys that can be looked at; null if there are none.</summary>
    KeyBrowser? Keys { get; }

    /// <summary>Writes what is true now, as properties of an object.</summary>
    void WriteNow(Utf8JsonWriter writer, string channel);

    /// <summary>Writes a view of its own, as properties of an object; false if it has none of that name.</summary>
    bool TryWriteView(string view, Utf8JsonWriter writer, DashboardUser user);

    /// <summary>Says something in the log: something has gone wrong.</summary>
    void LogError(string message);
}
