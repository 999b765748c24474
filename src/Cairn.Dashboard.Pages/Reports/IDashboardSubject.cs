using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;

namespace Cairn.Dashboard.Pages.Reports;

/// <summary>The subject of a dashboard: a server, a store file, or the caches of an application.</summary>
internal interface IDashboardSubject
{
    /// <summary>Gets the kind: server, store or caches. The page shows each kind differently.</summary>
    string Kind { get; }

    /// <summary>Gets the title: a path, or the name of an application.</summary>
    string Title { get; }

    /// <summary>Gets the version of Cairn.</summary>
    string Version { get; }

    /// <summary>Returns the views that a user may open, in the order of the menu.</summary>
    IReadOnlyList<string> ViewsFor(DashboardUser user);

    /// <summary>Gets the names of the caches that have separate figures. If there is only one, its name is empty.</summary>
    IReadOnlyList<string> Channels { get; }

    /// <summary>Returns the history of the last 24 hours; null if there is no such channel.</summary>
    SampleHistory? HistoryOf(string channel);

    /// <summary>Gets the browser of keys; null if the subject has none.</summary>
    KeyBrowser? Keys { get; }

    /// <summary>Writes the present state as properties of an object.</summary>
    void WriteNow(Utf8JsonWriter writer, string channel);

    /// <summary>Writes a view of this kind of subject as properties of an object. Returns false if there is no such view.</summary>
    bool TryWriteView(string view, Utf8JsonWriter writer, DashboardUser user);

    /// <summary>Logs an error.</summary>
    void LogError(string message);
}
