using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Formats;

/// <summary>Processes a whole catalogue repeatedly. One operation is one record.</summary>
internal sealed class CatalogueWork(string name, int records, int passes, Action pass) : IContender
{
    public string Name => name;

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var meter = Meter.Start();
        RunAll();
        return meter.Stop((double)records * passes);
    }

    public void Dispose()
    {
        // The group owns the resources of the work.
    }

    private void RunAll()
    {
        for (var i = 0; i < passes; i++)
        {
            pass();
        }
    }
}
