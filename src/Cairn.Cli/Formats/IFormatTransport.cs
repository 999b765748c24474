using Cairn.Caching.Serialization;
using Cairn.Redis;

namespace Cairn.Cli.Formats;

/// <summary>Where the bytes go.</summary>
internal interface IFormatTransport : IDisposable
{
    string Name { get; }

    void Write(string key, ReadOnlyMemory<byte> value);

    void Read(string key, PooledBuffer target);

    void Remove(string key);
}

/// <summary>A store's file.</summary>
internal sealed class StoreTransport(CairnStore store, string name) : IFormatTransport
{
    public string Name => name;

    public void Write(string key, ReadOnlyMemory<byte> value)
    {
        if (value.Length > store.MaxValueBytes)
        {
            throw ToolException.Usage(
                $"{value.Length:N0} bytes are too long for a value of the store, which may have {store.MaxValueBytes:N0}; use a larger store, or fewer records with -n");
        }

        if (!store.Set(key, value.Span, FormatTrial.TimeToLive))
        {
            throw new ToolException(ExitCode.Store, $"the store has no room for {value.Length:N0} bytes; use a larger one");
        }
    }

    public void Read(string key, PooledBuffer target)
    {
        if (!store.TryGet(key, target))
        {
            throw new ToolException(ExitCode.Store, "the store evicted what was just written; use a larger one");
        }
    }

    public void Remove(string key) => store.Remove(key);

    public void Dispose() => store.Dispose();
}

/// <summary>A server of Redis' protocol.</summary>
internal sealed class RedisTransport(RedisClient client, string name, CancellationToken cancellationToken) : IFormatTransport
{
    public string Name => name;

    public void Write(string key, ReadOnlyMemory<byte> value) =>
        Wait(client.SetAsync(key, value, FormatTrial.TimeToLive, cancellationToken: cancellationToken));

    public void Read(string key, PooledBuffer target)
    {
        if (!Wait(client.GetAsync(key, target, cancellationToken)))
        {
            throw new ToolException(ExitCode.Server, $"{name} evicted what was just written; give it more memory");
        }
    }

    public void Remove(string key) => Wait(client.DeleteAsync(key, CancellationToken.None));

    public void Dispose() => client.Dispose();

    private static T Wait<T>(ValueTask<T> task)
    {
        try
        {
#pragma warning disable VSTHRD002 // There is one caller, and no context that a continuation could wait for.
            return task.AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
        }
        catch (RedisException failure)
        {
            throw new ToolException(ExitCode.Server, failure.Message, failure);
        }
    }
}
