namespace Cairn.Caching.Flights;

// Which flight's factory is running here, and which flights of others factories wait for.
//
//   I1  No flight waits for itself, directly or through others: a factory that would close such a circle is refused. A circle of one
//       caller is found by the key, whatever the options and types; one of several callers when the last of them joins.
//   I2  A flight waits for those that its factory began (they have it as Parent), and for those of others that it joined (s_waiting).
//
// Not seen are circles through other processes, and those of several callers through two caches of one second level: there a lease
// is waited for, which ends.
internal static class FlightScope
{
    private static readonly AsyncLocal<Flight?> s_current = new();

    // Flights that were joined from within factories, with the flights of those. Only such joins take the lock.
    private static readonly Dictionary<Flight, List<Flight>> s_waiting = [];

    public static Flight? Current => s_current.Value;

    /// <summary>From here to the end of the calling asynchronous method, and in all that it calls.</summary>
    public static void Enter(Flight flight) => s_current.Value = flight;

    /// <summary>
    /// True if a factory of the key is running, and has called what runs here. Caches over one second level have the same keys, and
    /// others have other hashes.
    /// </summary>
    public static bool IsWithin(Flight scope, string key, ulong hash)
    {
        for (Flight? flight = scope; flight is not null; flight = flight.Parent)
        {
            if (flight.Hash == hash && !flight.HasEnded && flight.Key == key)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The factory of a flight is about to wait for another's flight.</summary>
    /// <returns>False if that one waits for it (I1).</returns>
    public static bool TryBeginWaiting(Flight scope, Flight joined)
    {
        lock (s_waiting)
        {
            if (IsAwaitedBy(scope, joined, []))
            {
                return false;
            }

            if (!s_waiting.TryGetValue(joined, out List<Flight>? waiting))
            {
                s_waiting.Add(joined, waiting = []);
            }

            waiting.Add(scope);
            return true;
        }
    }

    public static void EndWaiting(Flight scope, Flight joined)
    {
        lock (s_waiting)
        {
            List<Flight> waiting = s_waiting[joined];
            waiting.Remove(scope);
            if (waiting.Count == 0)
            {
                s_waiting.Remove(joined);
            }
        }
    }

    public static InvalidOperationException RefusalOfItself(string key) =>
        new($"The factory of '{key}' asks for '{key}' itself and would wait for ever. Use another key for what it needs.");

    public static InvalidOperationException RefusalOfEachOther(string waiting, string joined) =>
        new($"The factory of '{waiting}' asks for '{joined}', whose factory waits for '{waiting}': both would wait for ever. "
            + "Have one of them ask for what it needs without the cache, or under another key.");

    // I2, from the one that is waited for to those that wait.
    private static bool IsAwaitedBy(Flight awaited, Flight waiting, HashSet<Flight> seen)
    {
        for (Flight? flight = awaited; flight is not null && !flight.HasEnded && seen.Add(flight); flight = flight.Parent)
        {
            if (ReferenceEquals(flight, waiting)
                || (s_waiting.TryGetValue(flight, out List<Flight>? others) && others.Exists(other => IsAwaitedBy(other, waiting, seen))))
            {
                return true;
            }
        }

        return false;
    }
}
