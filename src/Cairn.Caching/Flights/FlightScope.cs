namespace Cairn.Caching.Flights;

/// <summary>Which flight's factory is running here: a factory that asks for its own key would wait for itself.</summary>
internal static class FlightScope
{
    private static readonly AsyncLocal<Flight?> s_current = new();

    public static Flight? Current => s_current.Value;

    /// <summary>From here to the end of the calling asynchronous method, and in all that it calls.</summary>
    public static void Enter(Flight flight) => s_current.Value = flight;

    /// <summary>Refuses to wait for a flight from within its own factory.</summary>
    /// <exception cref="InvalidOperationException">The caller is called by the flight's own factory.</exception>
    public static void ThrowIfWithin(Flight joined)
    {
        for (Flight? flight = s_current.Value; flight is not null; flight = flight.Parent)
        {
            if (ReferenceEquals(flight, joined))
            {
                throw new InvalidOperationException(
                    $"The factory of '{joined.Key}' asks for '{joined.Key}' itself and would wait for ever. Use another key for what it needs.");
            }
        }
    }
}
