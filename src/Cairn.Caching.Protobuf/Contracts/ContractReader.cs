using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.Serialization;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Contracts;

// Reads the contracts of types from their attributes.
//
//   C1  A description is complete: every type that it reaches has one. So an unsupported type is found before anything is written.
//   C2  Nothing is left out silently: an annotated member is written, or the type is refused.
//   C3  All numbers of a contract are different.
[RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
[RequiresDynamicCode("Contracts are carried out by code that is made at run time.")]
internal static class ContractReader
{
    private const BindingFlags Everything = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
    private const int LargestNumber = (1 << 29) - 1;
    private const int FirstReserved = 19_000;
    private const int LastReserved = 19_999;
    private const int ImplicitNone = 0;
    private const int ImplicitAllPublic = 1;

    private static readonly ConcurrentDictionary<Type, ContractDescription> Descriptions = new();

    // Options of protobuf-net that are not supported here. Ignoring them would lose or change data.
    private static readonly string[] Unsupported = ["AsReference", "DynamicType"];

    /// <summary>Returns whether a type is marked as a message. It may still be refused.</summary>
    public static bool IsMarked(Type type) =>
        !type.IsEnum && (IsGenerated(type) || ContractAttributes.IsProtoContract(type) || (ContractAttributes.IsDataContract(type) && HasNumbersOnly(type)));

    /// <summary>Returns whether protoc generated a type, which then reads and writes itself.</summary>
    public static bool IsGenerated(Type type) => typeof(IMessage).IsAssignableFrom(type) && type is { IsClass: true, IsAbstract: false };

    /// <summary>Returns the description of a type, after describing all types that it reaches (C1).</summary>
    /// <exception cref="ContractException">The type cannot be a message.</exception>
    public static ContractDescription Read(Type type)
    {
        if (Descriptions.TryGetValue(type, out ContractDescription? known))
        {
            return known;
        }

        var reached = new Dictionary<Type, ContractDescription?>();
        Reach(type, reached);
        foreach ((Type each, ContractDescription? description) in reached)
        {
            Descriptions.TryAdd(each, description!);
        }

        return Descriptions[type];
    }

    private static void Reach(Type type, Dictionary<Type, ContractDescription?> reached)
    {
        if (Descriptions.ContainsKey(type) || !reached.TryAdd(type, null))
        {
            return;
        }

        ContractDescription description = ReadOne(type);
        reached[type] = description;
        foreach (MemberDescription member in description.Members)
        {
            if (member.Value.Scalar is null)
            {
                Reach(member.Value.Type, reached);
            }
        }
    }

    private static ContractDescription ReadOne(Type type)
    {
        if (IsGenerated(type))
        {
            return new ContractDescription(type, [], SkipsConstructor: false);
        }

        if (!IsMarked(type))
        {
            throw new ContractException(
                ContractAttributes.IsDataContract(type)
                    ? $"{type} has [DataMember] without Order, or with an Order below 1. Give each its own number from 1 on."
                    : $"{type} is no contract. Mark it with [DataContract] and its members with [DataMember(Order = n)].");
        }

        CustomAttributeData? proto = ContractAttributes.Find(type, "ProtoContractAttribute");
        RefuseUnsupported(type, proto);
        List<MemberDescription> members = [.. MembersOf(type, proto)];
        members.Sort((left, right) => left.Number.CompareTo(right.Number));
        for (int i = 1; i < members.Count; i++)
        {
            if (members[i].Number == members[i - 1].Number)
            {
                throw new ContractException(
                    $"{type}: {members[i - 1].Name} and {members[i].Name} both have the number {members[i].Number}. Give each its own.");
            }
        }

        bool skipsConstructor = proto is not null && ContractAttributes.Named(proto, "SkipConstructor", otherwise: false);
        return new ContractDescription(type, members, skipsConstructor);
    }

    private static void RefuseUnsupported(Type type, CustomAttributeData? proto)
    {
        if (type.IsInterface || type.IsAbstract)
        {
            throw new ContractException($"{type} cannot be created. Cache a type that can, or register an IHybridCacheSerializer for it.");
        }

        if (type.ContainsGenericParameters || type.IsByRefLike || type.IsPointer)
        {
            throw new ContractException($"{type} cannot be a message. Register an IHybridCacheSerializer for it.");
        }

        for (Type? each = type; each is not null && each != typeof(object); each = each.BaseType)
        {
            if (ContractAttributes.Has(each, "ProtoIncludeAttribute"))
            {
                throw new ContractException($"{each} has [ProtoInclude], which is not supported. Register an IHybridCacheSerializer for {type}, or have it written as JSON.");
            }
        }

        if (proto is not null && proto.NamedArguments.Any(argument => argument.MemberName is "Surrogate" or "Serializer" && argument.TypedValue.Value is not null))
        {
            throw new ContractException($"{type} has a surrogate or a serializer of its own in [ProtoContract], which is not supported. Register an IHybridCacheSerializer for it.");
        }
    }

    private static IEnumerable<MemberDescription> MembersOf(Type type, CustomAttributeData? proto)
    {
        // Includes the members of base types, so that their data is not lost (C2).
        for (Type? declaring = type; declaring is not null && declaring != typeof(object) && declaring != typeof(ValueType); declaring = declaring.BaseType)
        {
            CustomAttributeData? contract = declaring == type ? proto : ContractAttributes.Find(declaring, "ProtoContractAttribute");
            if (contract is null && !ContractAttributes.IsDataContract(declaring))
            {
                continue;
            }

            Dictionary<string, CustomAttributeData> partial = PartialMembers(declaring);
            int implicitFields = contract is null ? ImplicitNone : ContractAttributes.Named(contract, "ImplicitFields", ImplicitNone);
            var unnumbered = new List<MemberInfo>();
            var used = new HashSet<int>();
            foreach (MemberInfo member in declaring.GetMembers(Everything).Where(IsFieldOrProperty).OrderBy(member => member.Name, StringComparer.Ordinal))
            {
                CustomAttributeData? attribute = ContractAttributes.Find(member, "ProtoMemberAttribute");
                partial.TryGetValue(member.Name, out CustomAttributeData? byType);
                if (ContractAttributes.Has(member, "ProtoIgnoreAttribute"))
                {
                    continue;
                }

                if (attribute is not null || byType is not null)
                {
                    int number = attribute is not null ? (int)attribute.ConstructorArguments[0].Value! : (int)byType!.ConstructorArguments[0].Value!;
                    used.Add(number);
                    yield return Describe(declaring, member, number, attribute ?? byType);
                }
                else if (implicitFields != ImplicitNone)
                {
                    if (IsImplicit(member, implicitFields))
                    {
                        unnumbered.Add(member);
                    }
                }
                else if (member.GetCustomAttribute<DataMemberAttribute>() is { } data && (contract is null || data.Order > 0))
                {
                    yield return Describe(declaring, member, data.Order, attribute: null, data.IsRequired, data.Name);
                }
            }

            int next = contract is null ? 1 : ContractAttributes.Named(contract, "ImplicitFirstTag", 1);
            foreach (MemberInfo member in unnumbered)
            {
                while (used.Contains(next))
                {
                    next++;
                }

                yield return Describe(declaring, member, next++, attribute: null);
            }
        }
    }

    private static MemberDescription Describe(
        Type type, MemberInfo member, int number, CustomAttributeData? attribute, bool isRequired = false, string? name = null)
    {
        if (number is < 1 or > LargestNumber or (>= FirstReserved and <= LastReserved))
        {
            throw new ContractException(
                $"{type}.{member.Name} has the number {number}; numbers are 1 to {LargestNumber:N0} without {FirstReserved:N0} to {LastReserved:N0}.");
        }

        if (attribute is not null)
        {
            isRequired = ContractAttributes.Named(attribute, "IsRequired", otherwise: false);
            name = ContractAttributes.Named<string?>(attribute, "Name", otherwise: null);
            foreach (string refused in Unsupported)
            {
                if (ContractAttributes.Named(attribute, refused, otherwise: false))
                {
                    throw new ContractException($"{type}.{member.Name} has {refused}, which is not supported. Register an IHybridCacheSerializer for {type}.");
                }
            }
        }

        if (ContractAttributes.Has(member, "NullWrappedValueAttribute") || ContractAttributes.Has(member, "NullWrappedCollectionAttribute"))
        {
            throw new ContractException($"{type}.{member.Name} wraps null values, which is not supported. Register an IHybridCacheSerializer for {type}.");
        }

        return MemberShapes.Describe(type, member, number, name ?? member.Name, isRequired, ContractAttributes.FormatOf(attribute));
    }

    private static Dictionary<string, CustomAttributeData> PartialMembers(Type type)
    {
        var members = new Dictionary<string, CustomAttributeData>(StringComparer.Ordinal);
        foreach (CustomAttributeData attribute in type.CustomAttributes.Where(attribute => attribute.AttributeType.FullName == "ProtoBuf.ProtoPartialMemberAttribute"))
        {
            members[(string)attribute.ConstructorArguments[1].Value!] = attribute;
        }

        return members;
    }

    private static bool IsFieldOrProperty(MemberInfo member) =>
        member is FieldInfo || (member is PropertyInfo property && property.GetIndexParameters().Length == 0);

    private static bool IsImplicit(MemberInfo member, int implicitFields) => implicitFields == ImplicitAllPublic
        ? member switch
        {
            FieldInfo field => field.IsPublic,
            PropertyInfo property => property.GetMethod is { IsPublic: true } && property.SetMethod is { IsPublic: true },
            _ => false,
        }
        : member is FieldInfo;

    // [DataContract] has many other uses. A type is meant for protocol buffers only if all its data members have a number.
    private static bool HasNumbersOnly(Type type)
    {
        int count = 0;
        for (Type? declaring = type; declaring is not null && declaring != typeof(object); declaring = declaring.BaseType)
        {
            foreach (MemberInfo member in declaring.GetMembers(Everything).Where(IsFieldOrProperty))
            {
                if (member.GetCustomAttribute<DataMemberAttribute>() is { } data)
                {
                    count++;
                    if (data.Order < 1)
                    {
                        return false;
                    }
                }
            }
        }

        return count > 0;
    }
}
