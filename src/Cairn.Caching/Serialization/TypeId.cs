using Cairn.Caching.Hashing;

namespace Cairn.Caching.Serialization;

// The number of a type in envelopes: a hash of its full name, including its type arguments and the types in which it is nested. Assemblies are
// not included: their versions change with every build, and a type that moves to another assembly remains the same type.
internal static class TypeId
{
    private const ulong Seed = 0x5459_5045_2D49_4431; // Part of what is stored.

    /// <summary>
    /// Returns the number of a type. A nullable value type has the number of the type itself, because the serialized form is the same.
    /// </summary>
    public static ulong Of(Type type)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        return Hash64.Of(HasAnonymous(type) ? type + PropertiesOf(type) : type.ToString(), Seed);
    }

    // The compiler numbers anonymous types, so the next build may give the name of one to another. The names of their properties, which are
    // those of their type parameters, distinguish them.
    private static string PropertiesOf(Type type)
    {
        var names = new StringBuilder();
        Append(type);
        return names.ToString();

        void Append(Type part)
        {
            if (part.HasElementType)
            {
                Append(part.GetElementType()!);
            }
            else if (part.IsConstructedGenericType)
            {
                if (IsAnonymous(part))
                {
                    names.Append(';').AppendJoin(',', part.GetGenericTypeDefinition().GetGenericArguments().Select(parameter => parameter.Name));
                }

                foreach (Type argument in part.GenericTypeArguments)
                {
                    Append(argument);
                }
            }
        }
    }

    private static bool HasAnonymous(Type type) =>
        type.HasElementType
            ? HasAnonymous(type.GetElementType()!)
            : type.IsConstructedGenericType && (IsAnonymous(type) || Array.Exists(type.GenericTypeArguments, HasAnonymous));

    private static bool IsAnonymous(Type type) =>
        type.Name.Contains("AnonymousType", StringComparison.Ordinal) && type.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false);
}
