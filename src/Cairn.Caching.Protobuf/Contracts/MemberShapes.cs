using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;

namespace Cairn.Caching.Protobuf.Contracts;

// Determines the wire form of a member from its type: one value, a list or a map.
[RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
[RequiresDynamicCode("Contracts are carried out by code that is made at run time.")]
internal static class MemberShapes
{
    public static MemberDescription Describe(Type owner, MemberInfo member, int number, string name, bool isRequired, DataFormat format)
    {
        Type type = member is PropertyInfo property ? property.PropertyType : ((FieldInfo)member).FieldType;
        int level = CompatibilityLevel.Of(owner, member);
        string where = $"{owner}.{member.Name}";
        Type? underlying = Nullable.GetUnderlyingType(type);
        if (underlying is not null)
        {
            ValueDescription present = ValueOf(where, underlying, format, level);
            MemberKind presentKind = present.Scalar is null ? MemberKind.Message : MemberKind.Scalar;
            return new MemberDescription(number, name, member, presentKind, present, Key: null, IsNullable: true, isRequired);
        }

        if (TryMap(type, out Type? keyType, out Type? valueType))
        {
            CustomAttributeData? map = ContractAttributes.Find(member, "ProtoMapAttribute");
            if (map is not null && ContractAttributes.Named(map, "DisableMap", otherwise: false))
            {
                throw new ContractException($"{where} is a dictionary with DisableMap, which is not supported. Remove it, or register an IHybridCacheSerializer for {owner}.");
            }

            ValueDescription key = ValueOf(where, keyType, ContractAttributes.FormatOf(map, "KeyFormat"), level);
            if (key.Scalar is null)
            {
                throw new ContractException($"{where} has keys of {keyType}, which cannot be keys on the wire. Use text or numbers.");
            }

            ValueDescription value = ValueOf(where, valueType, ContractAttributes.FormatOf(map, "ValueFormat"), level);
            return new MemberDescription(number, name, member, MemberKind.Map, value, key, IsNullable: false, isRequired);
        }

        if (TryItem(type, out Type? item))
        {
            ValueDescription value = ValueOf(where, item, format, level);
            return new MemberDescription(number, name, member, MemberKind.Repeated, value, Key: null, IsNullable: false, isRequired);
        }

        ValueDescription single = ValueOf(where, type, format, level);
        MemberKind kind = single.Scalar is null ? MemberKind.Message : MemberKind.Scalar;
        return new MemberDescription(number, name, member, kind, single, Key: null, IsNullable: false, isRequired);
    }

    /// <summary>Returns whether a type is a list, with the type of its items.</summary>
    public static bool TryItem(Type type, [NotNullWhen(true)] out Type? item)
    {
        item = null;
        if (type == typeof(string) || type == typeof(byte[]) || ContractReader.IsMarked(type))
        {
            return false;
        }

        if (type.IsArray)
        {
            item = type.GetArrayRank() == 1 ? type.GetElementType() : null;
            return item is not null;
        }

        if (!typeof(IEnumerable).IsAssignableFrom(type))
        {
            return false;
        }

        item = ArgumentOf(type, typeof(IEnumerable<>));
        return item is not null;
    }

    /// <summary>Returns whether a type is a dictionary, with the types of its keys and values.</summary>
    public static bool TryMap(Type type, [NotNullWhen(true)] out Type? key, [NotNullWhen(true)] out Type? value)
    {
        Type? dictionary = Constructed(type, typeof(IDictionary<,>)) ?? Constructed(type, typeof(IReadOnlyDictionary<,>));
        key = dictionary?.GetGenericArguments()[0];
        value = dictionary?.GetGenericArguments()[1];
        return dictionary is not null;
    }

    private static ValueDescription ValueOf(string where, Type type, DataFormat format, int level)
    {
        if (Scalars.Find(type, format, level) is { } scalar)
        {
            return new ValueDescription(type, scalar, IsGroup: false);
        }

        if (ContractReader.IsMarked(type) && !type.IsEnum)
        {
            return new ValueDescription(type, Scalar: null, format == DataFormat.Group);
        }

        throw new ContractException(
            Nullable.GetUnderlyingType(type) is not null ? $"{where} has items that may be null, which has no form on the wire. Use the type itself."
            : TryItem(type, out _) || TryMap(type, out _, out _) ? $"{where} is a list of lists, which has no form on the wire. Put the inner one into a type of its own."
            : $"{where} is of {type}, which has no form on the wire. Make it a contract, or leave the member out.");
    }

    private static Type? ArgumentOf(Type type, Type definition) => Constructed(type, definition)?.GetGenericArguments()[0];

    private static Type? Constructed(Type type, Type definition) =>
        type.IsGenericType && type.GetGenericTypeDefinition() == definition
            ? type
            : type.GetInterfaces().FirstOrDefault(each => each.IsGenericType && each.GetGenericTypeDefinition() == definition);
}
