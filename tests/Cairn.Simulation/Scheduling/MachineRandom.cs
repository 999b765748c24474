namespace Cairn.Simulation.Scheduling;

/// <summary>The random numbers of the machine whose work runs at this moment. They take the place of <see cref="Random.Shared"/>.</summary>
internal sealed class MachineRandom : Random
{
    public static readonly MachineRandom Instance = new();

    public override double NextDouble() => World.Current.Here.Random.NextDouble();

    public override int Next(int maxValue) => (int)(NextDouble() * maxValue);

    public override int Next(int minValue, int maxValue) => minValue + (int)(NextDouble() * ((long)maxValue - minValue));

    public override long NextInt64(long maxValue) => (long)(NextDouble() * maxValue);

    public override void NextBytes(Span<byte> buffer) => World.Current.Here.Random.Fill(buffer);

    protected override double Sample() => NextDouble();
}
