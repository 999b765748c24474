using System.Reflection;
using System.Runtime.Serialization;
using Cairn.Caching.Protobuf.Serialization;
using ProtoBuf;
using ProtoBuf.Meta;

namespace Cairn.Caching.Protobuf.Contracts;

// protobuf-net's model, with what a cache needs in addition:
//
//   M1  No content is lost. A zero is written if the constructor gives its member another value. The members of base types are written as
//       the type's own, unless [ProtoInclude] connects the two types.
//   M2  Reading takes time and memory in proportion to the bytes. An array that occurs again is replaced: extending it would copy it each time.
//   M3  Entries that earlier versions of this package wrote are still read. RecordedBytesTests has some of them.
[RequiresUnreferencedCode(Reason)]
[RequiresDynamicCode(Reason)]
internal static class ContractModel
{
    public const string Reason = "protobuf-net finds contracts by reflection and generates code at run time. Types that protoc generated need neither.";

    // The limit of Google.Protobuf; protobuf-net's own is 512.
    private const int MaxNesting = 100;

    private const BindingFlags Declared = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    public static RuntimeTypeModel Create()
    {
        RuntimeTypeModel model = RuntimeTypeModel.Create("Cairn");
        model.MaxDepth = MaxNesting;
        model.IncludeDateTimeKind = true;
        model.SkipZeroLengthPackedArrays = true;
        model.Add(typeof(DateTimeOffset), applyDefaultBehaviour: false).SerializerType = typeof(OffsetTimeForm);
        model.Add(typeof(Version), applyDefaultBehaviour: false).SerializerType = typeof(VersionForm);
        model.AfterApplyDefaultBehaviour += (_, added) => Complete(model, added.MetaType);
        return model;
    }

    /// <summary>Makes a type known to a model, if it is marked for protocol buffers or is a list or dictionary of such a type.</summary>
    /// <returns>False if it is neither.</returns>
    public static bool TryPrepare(RuntimeTypeModel model, Type type)
    {
        Type item = IsMarked(type) ? type : ItemOf(type);
        AddGenerated(model, item);
        return IsMarked(item);
    }

    // The type of the items of a list, or of the values of a dictionary; else the type itself.
    private static Type ItemOf(Type type)
    {
        Type? item = type.GetInterfaces().Append(type)
            .FirstOrDefault(static each => each.IsGenericType && each.GetGenericTypeDefinition() == typeof(IEnumerable<>))?.GetGenericArguments()[0];
        return item is null ? type
            : item.IsGenericType && item.GetGenericTypeDefinition() == typeof(KeyValuePair<,>) ? item.GetGenericArguments()[1]
            : item;
    }

    private static bool IsMarked(Type type) =>
        !type.IsEnum && (GeneratedMessage.Is(type) || type.IsDefined(typeof(ProtoContractAttribute), inherit: false) || HasOnlyNumberedMembers(type));

    private static void AddGenerated(RuntimeTypeModel model, Type type)
    {
        lock (model)
        {
            if (GeneratedMessage.Is(type) && !model.IsDefined(type))
            {
                model.Add(type, applyDefaultBehaviour: false).SerializerType = typeof(GeneratedForm<>).MakeGenericType(type);
            }
        }
    }

    private static void Complete(RuntimeTypeModel model, MetaType contract)
    {
        Type type = contract.Type;
        if (!IsMarked(type))
        {
            return;
        }

        try
        {
            AddInheritedMembers(contract);
            contract.UseConstructor &= type.IsValueType || type.GetConstructor(Declared, []) is not null;
            object? initial = contract.UseConstructor && !type.IsAbstract ? Activator.CreateInstance(type, nonPublic: true) : null;
            foreach (ValueMember field in contract.GetFields())
            {
                AddGenerated(model, field.ItemType ?? field.MemberType);
                Complete(field, initial);
            }
        }
        catch (Exception refusal) when (refusal is InvalidOperationException or TargetInvocationException)
        {
            // An exception from here would leave a contract without some members in the model.
            RefusedForms.Reasons[type] = (refusal.InnerException ?? refusal).Message;
            contract.SerializerType = typeof(RefusedForm<>).MakeGenericType(type);
        }
    }

    private static void Complete(ValueMember field, object? initial)
    {
        field.IsPacked |= field.ItemType is { IsPrimitive: true } or { IsEnum: true };
        field.OverwriteList |= field.MemberType.IsArray && field.MemberType != typeof(byte[]);
        if (initial is not null && field.MemberType.IsValueType && !Equals(ValueOf(field.Member, initial), Zero(field.MemberType)))
        {
            field.IsRequired = true;
            if (Nullable.GetUnderlyingType(field.MemberType) is not null)
            {
                throw new InvalidOperationException($"{field.ParentType}.{field.Name} can be null and has a value after the constructor. Protocol buffers cannot express this null. Remove the initial value.");
            }
        }
    }

    private static void AddInheritedMembers(MetaType contract)
    {
        for (Type? type = contract.Type.BaseType; type is not null && type != typeof(object); type = type.BaseType)
        {
            if (!IsMarked(type) || type.IsDefined(typeof(ProtoIncludeAttribute), inherit: false))
            {
                continue;
            }

            foreach (MemberInfo member in type.GetMembers(Declared))
            {
                var proto = member.GetCustomAttribute<ProtoMemberAttribute>();
                int number = proto?.Tag ?? member.GetCustomAttribute<DataMemberAttribute>()?.Order ?? 0;
                if (number > 0)
                {
                    if (contract.Type.GetMember(member.Name, Declared & ~BindingFlags.DeclaredOnly).Length != 1)
                    {
                        throw new InvalidOperationException(
                            $"{type}.{member.Name} cannot be written as a member of {contract.Type}: it is private or hidden. Make it protected, or use [ProtoInclude].");
                    }

                    ValueMember field = contract.AddField(number, member.Name);
                    field.DataFormat = proto?.DataFormat ?? DataFormat.Default;
                    field.IsPacked = proto?.IsPacked ?? false;
                    field.IsRequired = proto?.IsRequired ?? false;
                }
            }
        }
    }

    // [DataContract] has many other uses. A type is meant for protocol buffers only if all its members have a number.
    private static bool HasOnlyNumberedMembers(Type type)
    {
        int[] numbers =
        [
            .. type.GetMembers(Declared & ~BindingFlags.DeclaredOnly)
                .Select(static member => member.GetCustomAttribute<DataMemberAttribute>()).OfType<DataMemberAttribute>().Select(static member => member.Order),
        ];
        return type.IsDefined(typeof(DataContractAttribute), inherit: false) && numbers.Length > 0 && numbers.All(static number => number > 0);
    }

    private static object? ValueOf(MemberInfo member, object instance) =>
        member is PropertyInfo property ? property.GetValue(instance) : ((FieldInfo)member).GetValue(instance);

    private static object? Zero(Type type) => Nullable.GetUnderlyingType(type) is null ? Activator.CreateInstance(type) : null;
}
