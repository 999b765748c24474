using BenchmarkDotNet.Running;
using Cairn.Microbenchmarks;

if (args is [ExpiryMeasurement.Command])
{
    return ExpiryMeasurement.Run();
}

BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
return 0;
