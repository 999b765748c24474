namespace Cairn.Benchmarks.Store;

/// <summary>Compares the embedded store with dictionaries and with other embedded stores.</summary>
internal sealed class StoreArea : IArea
{
    private const long FullFileBytes = 1L << 30;
    private const long QuickFileBytes = 64L << 20;
    private const long OverheadFileBytes = 256L << 20;

    public string Name => "store";

    public void Run(AreaRun run)
    {
        var scale = run.Settings.IsQuick ? StoreScale.Quick : StoreScale.Full;
        foreach (var distribution in Enum.GetValues<Distribution>())
        {
            LookupCases.Measure(run, scale, distribution);
            SetCases.Measure(run, scale, distribution);
        }

        SetCases.MeasureMemoryCache(run, scale);
        ExpiringCases.Measure(run, scale);
        IntegerCases.Measure(run, scale);
        ParallelCases.Measure(run, scale);
        EncryptionCases.Measure(run, scale);
        FileCases.MeasureOpening(run, run.Settings.IsQuick ? QuickFileBytes : FullFileBytes);
        FileCases.MeasureOverhead(run, run.Settings.IsQuick ? QuickFileBytes : OverheadFileBytes);
        if (!run.Settings.IsQuick)
        {
            LargeCases.Measure(run);
        }
    }
}
