using Cairn.Caching.Hashing;

namespace Cairn.Caching.Serialization;

// The number of a type in envelopes: a hash of its full name, with those of its type arguments and of the types it is nested in,
// but without assemblies: their versions change with every build, and a type that moves to another assembly is still the type.
internal static class TypeId
{
    private const ulong Seed = 0x5459_5045_2D49_4431; // Part of what is stored.

    /// <summary>The number of a type. A nullable value type has that of the type itself: what is written is the same.</summary>
    public static ulong Of(Type type) => Hash64.Of((Nullable.GetUnderlyingType(type) ?? type).ToString(), Seed);
}
