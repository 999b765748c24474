namespace Cairn.Soak.Drift;

/// <summary>
/// The slope of a series with its 95 % confidence interval. The slope is the median of the slopes between all pairs of points. A noisy machine
/// produces a few wild points, which do not move the median. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", Journal of the
/// American Statistical Association 63, 1968. The interval is the normal approximation in section 6 of that paper.
/// </summary>
/// <param name="Slope">The change of y when x changes by 1.</param>
/// <param name="Low">The lower end of the interval. Minus infinity if there are too few points.</param>
/// <param name="High">The upper end of the interval. Infinity if there are too few points.</param>
internal readonly record struct SenSlope(double Slope, double Low, double High)
{
    private const double NormalQuantile = 1.96;

    public static SenSlope Of(IReadOnlyList<(double X, double Y)> points)
    {
        var slopes = new List<double>(points.Count * points.Count / 2);
        for (int i = 0; i < points.Count; i++)
        {
            for (int j = i + 1; j < points.Count; j++)
            {
                if (points[j].X != points[i].X)
                {
                    slopes.Add((points[j].Y - points[i].Y) / (points[j].X - points[i].X));
                }
            }
        }

        if (slopes.Count == 0)
        {
            return new SenSlope(0, double.NegativeInfinity, double.PositiveInfinity);
        }

        slopes.Sort();
        int n = points.Count;
        double deviation = NormalQuantile * Math.Sqrt(n * (n - 1.0) * ((2.0 * n) + 5) / 18);
        double low = (slopes.Count - deviation) / 2;
        double high = ((slopes.Count + deviation) / 2) + 1;
        return new SenSlope(
            Median(slopes),
            low < 1 ? double.NegativeInfinity : slopes[(int)low - 1],
            high > slopes.Count ? double.PositiveInfinity : slopes[(int)high - 1]);
    }

    private static double Median(List<double> sorted) =>
        sorted.Count % 2 == 1 ? sorted[sorted.Count / 2] : (sorted[(sorted.Count / 2) - 1] + sorted[sorted.Count / 2]) / 2;
}
