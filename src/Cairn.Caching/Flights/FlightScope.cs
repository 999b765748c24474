namespace Cairn.Caching.Flights;

// Records which flight's factory is running in the current context, and for which other flights factories wait.
//
//   I1  No flight waits for itself, directly or through others: a factory that would close such a circle is refused. A circle of one caller
//       is found by the key, independent of options and types; a circle of several callers is found when the last of them joins.
//   I2  A flight waits for the flights that its factory began (which have it as Parent), and for those of other callers that it joined
//       (s_waiting).
//
// Circles through other processes are not detected, nor those of several callers through two caches of one second level. There the callers
// wait for a lease, which ends.
internal static class FlightScope
{
    private static readonly AsyncLocal<Flight?> s_current = new();

    // Flights that factories have joined, each with the flights of those factories. Only such joins take the lock.
    private static readonly Dictionary<Flight, List<Flight>> s_waiting = [];

    public static Flight? Current => s_current.Value;

    /// <summary>Sets the flight for the rest of the calling asynchronous method and everything that it calls.</summary>
    public static void Enter(Flight flight) => s_current.Value = flight;

    /// <summary>
    /// Returns whether the code that runs here was called by a running factory of the key. Caches over one second level have the same hashes;
    /// other caches have different ones.
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

    /// <summary>Registers that the factory of a flight is about to wait for another caller's flight.</summary>
    /// <returns>False if that flight waits for the factory's (I1).</returns>
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
        new($"The factory of '{key}' requests '{key}' itself, so it would wait for itself. Use another key for its data.");

    public static InvalidOperationException RefusalOfEachOther(string waiting, string joined) =>
        new($"The factory of '{waiting}' requests '{joined}', whose factory waits for '{waiting}': each would wait for the other. "
            + "One of them must get its data without the cache, or under another key.");

    // Searches I2 backwards, from the awaited flight to the flights that wait for it.
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
