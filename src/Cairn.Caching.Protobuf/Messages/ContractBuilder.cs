using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using Cairn.Caching.Protobuf.Contracts;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

// Builds the contract of a type, which reads and writes it, from the description.
[RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
[RequiresDynamicCode("Contracts are carried out by types that are made at run time.")]
internal static class ContractBuilder
{
    /// <summary>Builds the contract of a type that is marked as one.</summary>
    /// <exception cref="ContractException">The type cannot be a message.</exception>
    public static MessageContract<T> Build<T>()
    {
        ContractDescription description = ContractReader.Read(typeof(T));
        Func<T> create = Creator<T>(description.SkipsConstructor);
        var callbacks = new ContractCallbacks<T>(typeof(T));
        T prototype = description.Members.Count == 0 ? default! : create();
        Member<T>[] members = [.. description.Members.Select(member => BuildMember(member, prototype))];
        return new MessageContract<T>(members, create, callbacks);
    }

    /// <summary>Builds the contract of a list or dictionary that is not a member. On the wire it is field 1 of a message.</summary>
    public static MessageContract<StrongBox<T>> BuildAlone<T>()
    {
        FieldInfo field = typeof(StrongBox<T>).GetField(nameof(StrongBox<>.Value))!;
        MemberDescription member = MemberShapes.Describe(typeof(T), field, number: 1, typeof(T).Name, isRequired: false, DataFormat.Default);
        foreach (ValueDescription? value in new[] { member.Value, member.Key })
        {
            if (value is { Scalar: null })
            {
                ContractReader.Read(value.Type);
            }
        }

        return new MessageContract<StrongBox<T>>(
            [BuildMember(member, new StrongBox<T>())], static () => new StrongBox<T>(), new ContractCallbacks<StrongBox<T>>(typeof(StrongBox<T>)));
    }

    private static Member<TOwner> BuildMember<TOwner>(MemberDescription member, TOwner prototype)
    {
        MethodInfo maker = typeof(ContractBuilder).GetMethod(
            member.Kind switch
            {
                MemberKind.Scalar => member.IsNullable ? nameof(Nullable) : nameof(Scalar),
                MemberKind.Message => member.IsNullable ? nameof(NullableMessage) : nameof(Message),
                MemberKind.Repeated => member.Value.Scalar is null ? nameof(RepeatedMessage)
                    : member.Value.Scalar.PackedAs is null ? nameof(RepeatedScalar) : nameof(Packed),
                _ => nameof(Map),
            },
            BindingFlags.Static | BindingFlags.NonPublic)!;
        Type value = member.Value.Type;
        Type[] types = member.Kind switch
        {
            MemberKind.Scalar => [typeof(TOwner), value, member.Value.Scalar!.Codec],
            MemberKind.Message => [typeof(TOwner), value],
            MemberKind.Repeated => member.Value.Scalar is not { } scalar ? [typeof(TOwner), member.MemberType, value]
                : scalar.PackedAs is null ? [typeof(TOwner), member.MemberType, value, scalar.Codec]
                : [typeof(TOwner), member.MemberType, value, scalar.PackedAs, scalar.Codec],
            _ => [typeof(TOwner), member.MemberType, member.Key!.Type, value],
        };
        return (Member<TOwner>)maker.MakeGenericMethod(types).Invoke(null, BindingFlags.DoNotWrapExceptions, binder: null, [member, prototype], culture: null)!;
    }

    private static ScalarMember<TOwner, TValue, TCodec> Scalar<TOwner, TValue, TCodec>(MemberDescription member, TOwner prototype)
        where TCodec : struct, Values.IValueCodec<TValue>
    {
        MemberGetter<TOwner, TValue> get = MemberAccess.Getter<TOwner, TValue>(member.Member);

        // A missing field keeps the value from the constructor. If that value is not zero, a zero must be written.
        bool isAlwaysWritten = member.IsRequired || (default(TValue) is not null && !TCodec.IsZero(get(ref prototype)));
        return new(member.Number, get, SetterOf<TOwner, TValue>(member), isAlwaysWritten);
    }

    private static NullableMember<TOwner, TValue, TCodec> Nullable<TOwner, TValue, TCodec>(MemberDescription member, TOwner prototype)
        where TValue : struct
        where TCodec : struct, Values.IValueCodec<TValue>
    {
        MemberGetter<TOwner, TValue?> get = MemberAccess.Getter<TOwner, TValue?>(member.Member);
        if (get(ref prototype) is not null)
        {
            throw new ContractException(
                $"{typeof(TOwner)}.{member.Member.Name} may be null, and its constructor sets it: a null that was written would be read as that. Let the constructor leave it null.");
        }

        return new(member.Number, get, SetterOf<TOwner, TValue?>(member));
    }

    private static MessageMember<TOwner, TValue> Message<TOwner, TValue>(MemberDescription member, TOwner prototype) => new(
        member.Number, member.Value.IsGroup, MemberAccess.Getter<TOwner, TValue>(member.Member), SetterOf<TOwner, TValue>(member));

    private static NullableMessageMember<TOwner, TValue> NullableMessage<TOwner, TValue>(MemberDescription member, TOwner prototype)
        where TValue : struct => new(
        member.Number, member.Value.IsGroup, MemberAccess.Getter<TOwner, TValue?>(member.Member), SetterOf<TOwner, TValue?>(member));

    private static RepeatedScalarMember<TOwner, TCollection, TItem, TCodec> RepeatedScalar<TOwner, TCollection, TItem, TCodec>(
        MemberDescription member, TOwner prototype)
        where TCodec : struct, Values.IValueCodec<TItem> => new(
        member.Number, ShapeOf<TCollection, TItem>(member), MemberAccess.Getter<TOwner, TCollection>(member.Member),
        MemberAccess.Setter<TOwner, TCollection>(member.Member));

    private static PackedMember<TOwner, TCollection, TItem, TPacked, TCodec> Packed<TOwner, TCollection, TItem, TPacked, TCodec>(
        MemberDescription member, TOwner prototype)
        where TCodec : struct, Values.IPackedCodec<TItem, TPacked> => new(
        member.Number, ShapeOf<TCollection, TItem>(member), MemberAccess.Getter<TOwner, TCollection>(member.Member),
        MemberAccess.Setter<TOwner, TCollection>(member.Member));

    private static RepeatedMessageMember<TOwner, TCollection, TItem> RepeatedMessage<TOwner, TCollection, TItem>(
        MemberDescription member, TOwner prototype) => new(
        member.Number, member.Value.IsGroup, ShapeOf<TCollection, TItem>(member), MemberAccess.Getter<TOwner, TCollection>(member.Member),
        MemberAccess.Setter<TOwner, TCollection>(member.Member));

    private static MapMember<TOwner, TMap, TKey, TValue> Map<TOwner, TMap, TKey, TValue>(MemberDescription member, TOwner prototype)
        where TKey : notnull
        where TMap : IEnumerable<KeyValuePair<TKey, TValue>>
    {
        Type type = typeof(TMap);
        Func<TMap> create = type.IsAssignableFrom(typeof(Dictionary<TKey, TValue>))
            ? static () => (TMap)(object)new Dictionary<TKey, TValue>()
            : typeof(IDictionary<TKey, TValue>).IsAssignableFrom(type) && CanBeMade(type)
                ? Creator<TMap>(skipsConstructor: false)
                : throw CannotBeMade(member);
        return new(
            member.Number, EntriesOf<TKey, TValue>(member), new MapShape<TMap, TKey, TValue>(create), MemberAccess.Getter<TOwner, TMap>(member.Member),
            MemberAccess.Setter<TOwner, TMap>(member.Member));
    }

    // A key or value that is zero is left out, as in generated code.
    private static MessageContract<MapEntry<TKey, TValue>> EntriesOf<TKey, TValue>(MemberDescription member)
    {
        Type entry = typeof(MapEntry<TKey, TValue>);
        var key = new MemberDescription(
            1, nameof(MapEntry<,>.Key), entry.GetField(nameof(MapEntry<,>.Key))!, MemberKind.Scalar, member.Key!, Key: null, IsNullable: false, IsRequired: false);
        var value = new MemberDescription(
            2, nameof(MapEntry<,>.Value), entry.GetField(nameof(MapEntry<,>.Value))!,
            member.Value.Scalar is null ? MemberKind.Message : MemberKind.Scalar, member.Value, Key: null, IsNullable: false, IsRequired: false);
        return new MessageContract<MapEntry<TKey, TValue>>(
            [BuildMember(key, default(MapEntry<TKey, TValue>)), BuildMember(value, default(MapEntry<TKey, TValue>))],
            static () => new MapEntry<TKey, TValue> { Key = Missing<TKey>(), Value = Missing<TValue>() },
            new ContractCallbacks<MapEntry<TKey, TValue>>(entry));
    }

    // Returns the value of a field that another writer left out.
    private static T Missing<T>() =>
        typeof(T) == typeof(string) ? (T)(object)string.Empty
        : typeof(T) == typeof(byte[]) ? (T)(object)Array.Empty<byte>()
        : default(T) is null && ContractReader.IsMarked(typeof(T)) ? MessageContract<T>.Instance.Create()
        : default!;

    private static CollectionShape<TCollection, TItem> ShapeOf<TCollection, TItem>(MemberDescription member)
    {
        Type type = typeof(TCollection);
        object shape;
        if (type.IsArray)
        {
            shape = new ArrayShape<TItem>();
        }
        else if (type == typeof(List<TItem>))
        {
            shape = new ListShape<TItem>();
        }
        else if (type.IsInterface && type.IsAssignableFrom(typeof(List<TItem>)))
        {
            shape = Activator.CreateInstance(typeof(InterfaceShape<,>).MakeGenericType(type, typeof(TItem)))!;
        }
        else if (type.IsInterface && type.IsAssignableFrom(typeof(HashSet<TItem>)))
        {
            Func<TCollection> create = static () => (TCollection)(object)new HashSet<TItem>();
            shape = Activator.CreateInstance(typeof(AddingShape<,>).MakeGenericType(type, typeof(TItem)), create)!;
        }
        else if (typeof(ICollection<TItem>).IsAssignableFrom(type) && CanBeMade(type))
        {
            shape = Activator.CreateInstance(typeof(AddingShape<,>).MakeGenericType(type, typeof(TItem)), Creator<TCollection>(skipsConstructor: false))!;
        }
        else
        {
            throw CannotBeMade(member);
        }

        return (CollectionShape<TCollection, TItem>)shape;
    }

    private static bool CanBeMade(Type type) => !type.IsAbstract && !type.IsValueType && type.GetConstructor(Type.EmptyTypes) is not null;

    private static ContractException CannotBeMade(MemberDescription member) => new(
        $"{member.Member.DeclaringType}.{member.Member.Name} is a {member.MemberType}, which cannot be made and filled here. Use an array, a List or a Dictionary, or an interface of those.");

    private static MemberSetter<TOwner, TValue> SetterOf<TOwner, TValue>(MemberDescription member) =>
        MemberAccess.Setter<TOwner, TValue>(member.Member)
        ?? throw new ContractException($"{typeof(TOwner)}.{member.Member.Name} cannot be set. Give it a setter, which may be private.");

    // A type without a parameterless constructor, such as a record, is created without running any constructor. All its members are set
    // afterwards.
    private static Func<T> Creator<T>(bool skipsConstructor)
    {
        Type type = typeof(T);
        if (type.IsValueType)
        {
            return static () => default!;
        }

        ConstructorInfo? constructor = type.GetConstructor(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic, Type.EmptyTypes);
        if (skipsConstructor || constructor is null)
        {
            return static () => (T)RuntimeHelpers.GetUninitializedObject(typeof(T));
        }

        if (!RuntimeFeature.IsDynamicCodeSupported)
        {
            return () => (T)constructor.Invoke(BindingFlags.DoNotWrapExceptions, binder: null, parameters: null, culture: null);
        }

        var method = new DynamicMethod($"make {type.Name}", type, Type.EmptyTypes, type.Module, skipVisibility: true);
        ILGenerator code = method.GetILGenerator();
        code.Emit(OpCodes.Newobj, constructor);
        code.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<T>>();
    }
}
