using Cairn.Caching.Local;

namespace Cairn.Caching.Tests.Local;

/// <summary>Creates and finds entries of the first level for tests.</summary>
internal static class LocalEntries
{
    /// <summary>Returns a hash as good as a cache's own: similar names have distant hashes.</summary>
    public static ulong HashOf(string key)
    {
        ulong hash = 0xCBF2_9CE4_8422_2325;
        foreach (char letter in key)
        {
            hash = (hash ^ letter) * 0x0000_0100_0000_01B3;
        }

        hash ^= hash >> 32;
        hash *= 0x9E37_79B9_7F4A_7C15;
        return hash ^ (hash >> 29);
    }

    public static LocalEntry Of(string key, long bytes = 1, object? value = null) => new(key, HashOf(key)) { Bytes = bytes, Value = value };

    public static LocalEntry WithHash(string key, ulong hash) => new(key, hash) { Bytes = 1 };

    /// <summary>Sets a new entry and returns it.</summary>
    public static LocalEntry Put(this LocalCache cache, string key, long bytes = 1)
    {
        LocalEntry entry = Of(key, bytes);
        cache.Set(entry);
        return entry;
    }

    public static LocalEntry? Find(this LocalCache cache, string key) => cache.Find(HashOf(key), key);

    public static bool Remove(this LocalCache cache, string key) => cache.Remove(HashOf(key), key);
}
