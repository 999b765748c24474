using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Cairn.Caching.Protobuf.Contracts;
using Cairn.Caching.Protobuf.Messages;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf.Serialization;

/// <summary>Selects the serializer of a type.</summary>
internal static class SerializerChoice
{
    /// <summary>Returns the serializer of a type, or null if the type is not marked as a message.</summary>
    [RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
    [RequiresDynamicCode("Contracts are carried out by types that are made at run time.")]
    public static IHybridCacheSerializer<T>? Find<T>()
    {
        Type type = typeof(T);
        try
        {
            if (ContractReader.IsMarked(type))
            {
                return ContractReader.IsGenerated(type) ? FindGenerated<T>() : new ContractSerializer<T>(MessageContract<T>.Instance);
            }

            bool isMap = MemberShapes.TryMap(type, out _, out Type? item);
            if ((isMap || MemberShapes.TryItem(type, out item)) && item is not null && ContractReader.IsMarked(item))
            {
                MessageContract<StrongBox<T>> contract = ContractBuilder.BuildAlone<T>();
                return new CollectionSerializer<T>(contract, Empty<T>(item));
            }

            return null;
        }
        catch (Exception failure) when ((failure as ContractException ?? failure.InnerException as ContractException) is { } refusal)
        {
            return new RefusedSerializer<T>($"{type} cannot be written as protocol buffers. {refusal.Message}");
        }
    }

    /// <summary>
    /// Returns the serializer of a type that protoc generated, or null for other types. It needs nothing that a trimmer may remove.
    /// </summary>
    [UnconditionalSuppressMessage("Trimming", "IL2087", Justification = "The property Parser of a generated message keeps its constructor.")]
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = "The same.")]
    public static IHybridCacheSerializer<T>? FindGenerated<T>() =>
        typeof(Google.Protobuf.IMessage).IsAssignableFrom(typeof(T)) && typeof(T) is { IsClass: true, IsAbstract: false }
            ? new GeneratedSerializer<T>(static () => Activator.CreateInstance<T>())
            : null;

    [RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
    [RequiresDynamicCode("Contracts are carried out by types that are made at run time.")]
    private static Func<T> Empty<T>(Type item)
    {
        Type type = typeof(T);
        object Make() => type.IsArray ? Array.CreateInstance(item, 0)
            : type.IsInterface && type.IsAssignableFrom(typeof(List<>).MakeGenericType(item)) ? Activator.CreateInstance(typeof(List<>).MakeGenericType(item))!
            : type.IsInterface && MemberShapes.TryMap(type, out Type? key, out Type? value) ? Activator.CreateInstance(typeof(Dictionary<,>).MakeGenericType(key, value))!
            : type.IsInterface ? Activator.CreateInstance(typeof(HashSet<>).MakeGenericType(item))!
            : Activator.CreateInstance(type)!;
        return () => (T)Make();
    }
}
