using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.Serialization;
using Cairn.Caching.Protobuf.Contracts;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>Calls the methods of a type that are marked to run before and after it is read or written.</summary>
internal sealed class ContractCallbacks<T>
{
    private readonly Action<object>? _reading;
    private readonly Action<object>? _read;
    private readonly Action<object>? _writing;
    private readonly Action<object>? _written;

    [RequiresUnreferencedCode("Methods are found by looking at the type at run time.")]
    public ContractCallbacks(Type type)
    {
        // A method of a struct would run on a copy.
        if (type.IsValueType)
        {
            return;
        }

        _reading = Find(type, typeof(OnDeserializingAttribute), "ProtoBeforeDeserializationAttribute");
        _read = Find(type, typeof(OnDeserializedAttribute), "ProtoAfterDeserializationAttribute");
        _writing = Find(type, typeof(OnSerializingAttribute), "ProtoBeforeSerializationAttribute");
        _written = Find(type, typeof(OnSerializedAttribute), "ProtoAfterSerializationAttribute");
    }

    public void OnReading(ref T value) => Call(_reading, ref value);

    public void OnRead(ref T value) => Call(_read, ref value);

    public void OnWriting(ref T value) => Call(_writing, ref value);

    public void OnWritten(ref T value) => Call(_written, ref value);

    private static void Call(Action<object>? callback, ref T value)
    {
        if (callback is not null)
        {
            callback(value!);
        }
    }

    [RequiresUnreferencedCode("Methods are found by looking at the type at run time.")]
    private static Action<object>? Find(Type type, Type attribute, string protoAttribute)
    {
        Action<object>? all = null;
        for (Type? declaring = type; declaring is not null && declaring != typeof(object); declaring = declaring.BaseType)
        {
            foreach (MethodInfo method in declaring.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
            {
                if (method.IsDefined(attribute, inherit: false) || ContractAttributes.Has(method, protoAttribute))
                {
                    // Methods of base types run first.
                    all = ToCall(method) + all;
                }
            }
        }

        return all;
    }

    private static Action<object> ToCall(MethodInfo method)
    {
        ParameterInfo[] parameters = method.GetParameters();
        object?[] arguments = parameters.Length == 1 && parameters[0].ParameterType == typeof(StreamingContext) ? [default(StreamingContext)] : [];
        if (parameters.Length != arguments.Length)
        {
            throw new ContractException($"{method.DeclaringType}.{method.Name} is to be called while serializing: it must take nothing, or a StreamingContext.");
        }

        return target => method.Invoke(target, BindingFlags.DoNotWrapExceptions, binder: null, arguments, culture: null);
    }
}
