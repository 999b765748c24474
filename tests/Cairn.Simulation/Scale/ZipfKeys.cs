using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Scale;

/// <summary>Keys by Zipf's law: the key with the number n is asked for n times as rarely as the first.</summary>
internal sealed class ZipfKeys
{
    private readonly double[] _sums;

    public ZipfKeys(int keys)
    {
        _sums = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++)
        {
            _sums[i] = sum += 1.0 / (i + 1);
        }
    }

    public int Next(SeededRandom random)
    {
        int at = Array.BinarySearch(_sums, random.NextDouble() * _sums[^1]);
        return Math.Min(at < 0 ? ~at : at, _sums.Length - 1);
    }
}
