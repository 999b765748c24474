namespace Cairn.Benchmarks;

/// <summary>A part of the product that is measured together, under the name given to <c>bench/run</c>.</summary>
internal interface IArea
{
    string Name { get; }

    /// <summary>Measures all cases and adds the findings to <paramref name="run"/>.</summary>
    void Run(AreaRun run);
}
