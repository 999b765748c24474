using Cairn.Caching.Protobuf.Contracts;
using Cairn.Caching.Protobuf.Serialization;
using Cairn.Caching.Serialization;
using Google.Protobuf;
using Microsoft.Extensions.Caching.Hybrid;
using ProtoBuf.Meta;

namespace Cairn.Caching.Protobuf;

/// <summary>Creates serializers for types that are marked for protocol buffers. <c>AddProtobuf</c> registers it.</summary>
/// <remarks>
/// <para>
/// These types are: types that protoc generated (<see cref="IMessage"/>), by Google.Protobuf; types with <c>[ProtoContract]</c>, types with
/// <c>[DataContract]</c> whose members all have <c>[DataMember(Order = n)]</c>, n from 1, and lists and dictionaries of all of these, by
/// protobuf-net. The factory leaves other types to other serializers.
/// </para>
/// <para>
/// If the framework's switch for reflection is off, as in applications that are compiled ahead of time, the factory supports only types that
/// protoc generated. Safe from any thread.
/// </para>
/// </remarks>
public sealed class CairnProtobufSerializerFactory : IHybridCacheSerializerFactory
{
    private readonly RuntimeTypeModel? _model;

    /// <summary>Creates a factory with a model of its own (<see cref="CreateModel"/>).</summary>
    public CairnProtobufSerializerFactory() => _model = Reflection.IsAllowed ? ContractModel.Create() : null;

    /// <summary>Creates a factory with a given model.</summary>
    /// <param name="model">The model of protobuf-net, usually one of <see cref="CreateModel"/> to which the application has added types or surrogates.</param>
    [RequiresUnreferencedCode(ContractModel.Reason)]
    [RequiresDynamicCode(ContractModel.Reason)]
    public CairnProtobufSerializerFactory(RuntimeTypeModel model)
    {
        ArgumentNullException.ThrowIfNull(model);
        _model = model;
    }

    /// <summary>Creates a protobuf-net model with the settings of this package, to change it, or to use it outside a cache.</summary>
    /// <returns>
    /// A model that keeps the kind of a <see cref="DateTime"/>, supports <see cref="DateTimeOffset"/> and <see cref="Version"/>, refuses more
    /// than 100 levels, and writes the members of base types and zeros that a constructor would undo.
    /// </returns>
    [RequiresUnreferencedCode(ContractModel.Reason)]
    [RequiresDynamicCode(ContractModel.Reason)]
    public static RuntimeTypeModel CreateModel() => ContractModel.Create();

    /// <inheritdoc />
    public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer)
    {
        serializer = GeneratedMessage.Is(typeof(T)) ? Generated<T>()
            : Reflection.IsAllowed && _model is not null && ContractModel.TryPrepare(_model, typeof(T)) ? new ContractSerializer<T>(_model)
            : null;
        return serializer is not null;
    }

    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = "The property Parser of a generated message keeps its constructor.")]
    private static GeneratedSerializer<T> Generated<T>() => new(static () => Activator.CreateInstance<T>());
}
