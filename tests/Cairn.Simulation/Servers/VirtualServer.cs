using Cairn.Simulation.Network;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Servers;

/// <summary>A server on the virtual network.</summary>
internal abstract class VirtualServer(World world, string name, SeededRandom random) : Place(world, name, random)
{
    /// <summary>Gets or sets whether connections are accepted; if not, they are refused.</summary>
    public bool IsListening { get; set; } = true;

    /// <summary>Gets or sets whether the whole host is off, so that connecting takes as long as the caller waits.</summary>
    public bool IsUnreachable { get; set; }

    public abstract void Accept(VirtualConnection connection);

    /// <summary>Takes bytes of a connection; null for its end.</summary>
    public abstract void Receive(VirtualConnection connection, byte[]? bytes);
}
