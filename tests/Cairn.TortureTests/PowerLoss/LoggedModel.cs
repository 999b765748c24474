using System.Globalization;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>The expected content of logged collections: the state after each of the changes that were begun, in their order.</summary>
internal sealed class LoggedModel
{
    private readonly List<Change> _changes = [];
    private readonly Dictionary<string, string> _start;

    /// <param name="start">The content before the first change.</param>
    public LoggedModel(Dictionary<string, string> start) => _start = start;

    /// <summary>Gets the number of changes that were begun.</summary>
    public int Count => _changes.Count;

    public static string Name(int collection, string key) => string.Create(CultureInfo.InvariantCulture, $"{collection}/{key}");

    /// <summary>Records a change before it is made.</summary>
    public void Begin(int moment, Action<Dictionary<string, string>> apply) => _changes.Add(new Change(moment, apply));

    /// <summary>Removes all changes after the first <paramref name="count"/>. They failed and had no effect.</summary>
    public void Withdraw(int count) => _changes.RemoveRange(count, _changes.Count - count);

    /// <summary>Returns the fault of a state that was found while the power is on, or <see langword="null"/> without a fault.</summary>
    public string? FaultNow(Dictionary<string, string> found) => Difference(After(_changes.Count), found);

    /// <summary>Records that all changes so far were acknowledged as durable.</summary>
    public void Acknowledge(int moment)
    {
        foreach (Change change in _changes)
        {
            change.Durable = Math.Min(change.Durable, moment);
        }
    }

    /// <summary>Returns the fault of a state that was found after the power failed at a moment, or null without a fault.</summary>
    public string? FaultOf(Dictionary<string, string> found, int moment)
    {
        int least = _changes.Count(change => change.Durable <= moment);
        int most = _changes.Count(change => change.Begun < moment);
        Dictionary<string, string> state = After(least);
        string? first = Difference(state, found);
        string? last = first;
        for (int count = least; last is not null && count < most; count++)
        {
            _changes[count].Apply(state);
            last = Difference(state, found);
        }

        return last is null
            ? null
            : string.Create(
                CultureInfo.InvariantCulture,
                $"not the state after any of {least} to {most} changes. After {least}: {first}. After {most}: {last}");
    }

    private Dictionary<string, string> After(int count)
    {
        var state = new Dictionary<string, string>(_start, StringComparer.Ordinal);
        foreach (Change change in _changes.Take(count))
        {
            change.Apply(state);
        }

        return state;
    }

    private static string? Difference(Dictionary<string, string> expected, Dictionary<string, string> found)
    {
        string[] differences =
        [
            .. expected.Keys.Union(found.Keys, StringComparer.Ordinal)
                .Where(key => expected.GetValueOrDefault(key) != found.GetValueOrDefault(key))
                .Select(key => $"{key} is {found.GetValueOrDefault(key, "missing")}, not {expected.GetValueOrDefault(key, "missing")}"),
        ];
        return differences.Length == 0 ? null : string.Join("; ", differences.Take(4)) + (differences.Length > 4 ? $"; and {differences.Length - 4} more" : "");
    }

    private sealed class Change(int begun, Action<Dictionary<string, string>> apply)
    {
        public int Begun => begun;

        public Action<Dictionary<string, string>> Apply => apply;

        public int Durable { get; set; } = int.MaxValue;
    }
}
