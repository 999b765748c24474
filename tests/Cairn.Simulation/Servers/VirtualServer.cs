using Cairn.Simulation.Network;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Servers;

/// <summary>A cache server on the virtual network.</summary>
internal abstract class VirtualServer(World world, string name, SeededRandom random) : Place(world, name, random)
{
    /// <summary>Gets or sets whether connections are accepted; if not, they are refused.</summary>
    public bool IsListening { get; set; } = true;

    /// <summary>Gets or sets whether the whole host is off, so that connecting takes as long as the caller waits.</summary>
    public bool IsUnreachable { get; set; }

    /// <summary>Gets or sets by how much commands take longer than usual.</summary>
    public double Slowness { get; set; } = 1;

    /// <summary>Gets or sets whether the data survive a restart.</summary>
    public bool IsDurable { get; set; }

    /// <summary>Gets or sets what follows each change of a key: the entry, null if it is gone, and the machine that changed it.</summary>
    public Action<string, RedisEntry?, Place?>? Changed { get; set; }

    /// <summary>Gets or sets what follows each request, or each part of one: the machine that sent it.</summary>
    public Action<Place>? Requested { get; set; }

    /// <summary>Gets when the command that runs was sent.</summary>
    public long SentAt { get; protected set; }

    /// <summary>Gets the names of all keys, in an order that depends on the seed only.</summary>
    public abstract IEnumerable<string> KeyNames { get; }

    public abstract void Accept(VirtualConnection connection);

    /// <summary>Takes bytes of a connection; null for its end.</summary>
    public abstract void Receive(VirtualConnection connection, byte[]? bytes);

    /// <summary>Removes a key, as eviction does.</summary>
    public abstract void Evict(string key);

    /// <summary>Starts the server again, if it has crashed.</summary>
    public virtual void Restart()
    {
    }

    /// <summary>Releases what the run needed outside of its world.</summary>
    public virtual void End()
    {
    }
}
