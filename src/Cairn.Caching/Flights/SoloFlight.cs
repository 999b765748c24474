namespace Cairn.Caching.Flights;

/// <summary>The flight of a single caller that sets a value or reads the second level. Other callers cannot join it.</summary>
internal sealed class SoloFlight(string key, ulong hash, bool isWriter) : Flight(key, hash)
{
    public override bool IsWriter => isWriter;
}
