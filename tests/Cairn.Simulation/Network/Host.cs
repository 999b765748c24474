using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Network;

/// <summary>A machine that can connect to servers.</summary>
internal abstract class Host(World world, VirtualNetwork network, string name, SeededRandom random) : Place(world, name, random)
{
    public VirtualNetwork Network => network;
}
