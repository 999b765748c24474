using System.ComponentModel;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Cairn.Caching.Serialization;

/// <summary>Of which types one object may be given to many callers: those of Microsoft's implementation, and some of the framework's own.</summary>
internal static class Sharing
{
    public static bool IsShareable<T>(CodecOptions? options) =>
        // A struct without references is copied whole by whoever takes it, so there is nothing to share.
        !RuntimeHelpers.IsReferenceOrContainsReferences<T>()
        || IsImmutable(typeof(T))
        || (options is not null && (options.ShareAllTypes || options.ShareableTypes.Contains(typeof(T))));

    private static bool IsImmutable(Type type)
    {
        if (type == typeof(string) || type == typeof(Uri) || type == typeof(Version))
        {
            return true;
        }

        type = Nullable.GetUnderlyingType(type) ?? type;

        // A class that others may derive from cannot promise anything for them.
        return (type.IsValueType || type.IsSealed) && type.GetCustomAttribute<ImmutableObjectAttribute>(inherit: false) is { Immutable: true };
    }
}
