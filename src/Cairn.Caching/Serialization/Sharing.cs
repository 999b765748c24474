using System.ComponentModel;
using System.Reflection;

namespace Cairn.Caching.Serialization;

/// <summary>
/// Decides for which types many callers may receive the same object: those of Microsoft's implementation, and some of the framework's own.
/// </summary>
internal static class Sharing
{
    public static bool IsShareable<T>(CodecOptions? options) =>
        // A struct without references is copied completely on every read, so there is nothing to share.
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

        // A class that is not sealed cannot guarantee anything for derived classes.
        return (type.IsValueType || type.IsSealed) && type.GetCustomAttribute<ImmutableObjectAttribute>(inherit: false) is { Immutable: true };
    }
}
