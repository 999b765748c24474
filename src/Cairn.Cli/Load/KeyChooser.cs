// Chooses the next key. The uniform distribution takes one multiplication. Zipf's law uses rejection-inversion, which needs no table for
// any number of keys (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM
// Transactions on Modeling and Computer Simulation 6(3), 1996). The ranks are spread over the keys, so that the most frequent keys are not
// neighbours.
namespace Cairn.Cli.Load;

internal sealed class KeyChooser
{
    private readonly uint _keys;
    private readonly bool _isZipf;
    private readonly double _exponent;
    private readonly double _integralAtOne;
    private readonly double _integralAtEnd;
    private readonly double _alwaysWithin;
    private readonly ulong _stride;
    private ulong _state;

    /// <summary>Creates a sequence of keys and other random numbers.</summary>
    /// <param name="keys">The number of keys.</param>
    /// <param name="zipfExponent">The exponent of Zipf's law, above 0; null for a uniform distribution.</param>
    /// <param name="seed">The seed. Equal seeds give equal sequences.</param>
    public KeyChooser(int keys, double? zipfExponent, ulong seed)
    {
        _keys = (uint)keys;
        _state = seed;
        _stride = Stride(_keys);
        if (zipfExponent is { } exponent)
        {
            _isZipf = true;
            _exponent = exponent;
            _integralAtOne = Integral(1.5) - 1;
            _integralAtEnd = Integral(keys + 0.5);
            _alwaysWithin = 2 - InverseIntegral(Integral(2.5) - Math.Pow(2, -exponent));
        }
    }

    /// <summary>Returns a number from 0 to below <paramref name="bound"/>.</summary>
    public uint NextBelow(uint bound) => (uint)(((Next() >> 32) * bound) >> 32);

    public uint NextKey() => _isZipf ? Spread(NextRank()) : NextBelow(_keys);

    // SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
    private ulong Next()
    {
        ulong z = _state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    private double NextUnit() => (Next() >> 11) * (1.0 / (1UL << 53));

    private uint NextRank()
    {
        while (true)
        {
            double u = _integralAtEnd + (NextUnit() * (_integralAtOne - _integralAtEnd));
            double x = InverseIntegral(u);
            double rank = Math.Clamp(Math.Round(x), 1, _keys);
            if (rank - x <= _alwaysWithin || u >= Integral(rank + 0.5) - Math.Pow(rank, -_exponent))
            {
                return (uint)rank - 1;
            }
        }
    }

    // The integral of x^-exponent, (x^(1 - exponent) - 1) / (1 - exponent), and its inverse. For the exponent 1 they are the logarithm and
    // the exponential function.
    private double Integral(double x)
    {
        double slope = 1 - _exponent;
        return Math.Abs(slope) < 1e-9 ? Math.Log(x) : (Math.Pow(x, slope) - 1) / slope;
    }

    private double InverseIntegral(double y)
    {
        double slope = 1 - _exponent;
        return Math.Abs(slope) < 1e-9 ? Math.Exp(y) : Math.Pow(Math.Max(0, (y * slope) + 1), 1 / slope);
    }

    private uint Spread(uint rank) => (uint)(rank * _stride % _keys);

    // A number near the golden ratio of the keys and coprime to them, so that each rank has its own key.
    private static ulong Stride(uint keys)
    {
        ulong stride = Math.Max(1, (ulong)(keys * 0.6180339887));
        while (Divisor(stride, keys) != 1)
        {
            stride++;
        }

        return stride;
    }

    private static ulong Divisor(ulong a, ulong b)
    {
        while (b != 0)
        {
            (a, b) = (b, a % b);
        }

        return a;
    }
}
