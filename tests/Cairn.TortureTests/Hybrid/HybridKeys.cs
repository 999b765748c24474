using System.Globalization;

namespace Cairn.TortureTests.Hybrid;

/// <summary>
/// The keys of a run, each with one tag, and their values. A value names the key and the write that created it. Most operations use a few
/// of the keys, so that processes collide.
/// </summary>
internal static class HybridKeys
{
    public const int Count = 10_000;
    public const int Tags = 50;

    /// <summary>The key of an operation on all keys.</summary>
    public const int Everything = int.MinValue;

    public static int Choose(Random random, int hotKeys) => random.Next(4) != 0 ? random.Next(hotKeys) : random.Next(Count);

    public static string NameOf(int key) => string.Create(CultureInfo.InvariantCulture, $"key:{key}");

    public static string TagName(int tag) => string.Create(CultureInfo.InvariantCulture, $"tag:{tag}");

    public static int TagOf(int key) => key % Tags;

    /// <summary>Returns the key of an operation on all keys with the tag.</summary>
    public static int OfTag(int tag) => -1 - tag;

    /// <summary>Returns whether the values of a key expire soon and are served for a while after that.</summary>
    public static bool Expires(int key) => key % 4 is 1 or 2;

    /// <summary>Returns whether the value with this number was created for the first level only.</summary>
    public static bool IsLocal(long number) => (number & 1) != 0;

    /// <summary>Creates a value of a key, with padding.</summary>
    public static string Value(int key, long number, Random random) =>
        string.Create(CultureInfo.InvariantCulture, $"{number}|{key}|{new string('x', random.Next(40) == 0 ? 6_000 : random.Next(300))}");

    /// <summary>Returns the number of a value.</summary>
    /// <exception cref="InvalidDataException">The value belongs to another key.</exception>
    public static long NumberOf(int key, string value)
    {
        string[] parts = value.Split('|');
        return parts.Length == 3 && parts[1] == key.ToString(CultureInfo.InvariantCulture)
            ? long.Parse(parts[0], CultureInfo.InvariantCulture)
            : throw new InvalidDataException($"{NameOf(key)} has the value {value}.");
    }
}
