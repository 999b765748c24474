namespace Cairn.Caching.Flights;

/// <summary>A value that one caller sets, or reads from the second level, and that nobody else waits for.</summary>
internal sealed class SoloFlight(string key, ulong hash, bool isWriter) : Flight(key, hash)
{
    public override bool IsWriter => isWriter;
}
