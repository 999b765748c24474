namespace Cairn.Benchmarks;

/// <summary>A part of the product that is measured together, under the name given to <c>bench/run</c>.</summary>
internal interface IArea
{
    string Name { get; }

    /// <summary>What is measured, in half a line of help.</summary>
    string Summary { get; }

    /// <summary>Measures everything and adds what it finds to <paramref name="run"/>.</summary>
    void Run(AreaRun run);
}
