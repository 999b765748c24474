namespace Cairn.Benchmarks.Store;

/// <summary>The part of a case's name that its group shares.</summary>
internal static class CaseName
{
    public static string Suffix(Distribution distribution, StoreScale scale) => distribution switch
    {
        Distribution.Uniform => $", uniform, {scale.Size}",
        Distribution.Zipf => $", Zipf 0.99, {scale.Size}",
        _ => throw new ArgumentOutOfRangeException(nameof(distribution), distribution, "Not a known distribution."),
    };
}
