from roofline.api.calibration import Measured as Measured
from roofline.api.calibration import calibrate as calibrate
from roofline.api.captures import capture_remote as capture_remote
from roofline.api.capturing import Capture as Capture
from roofline.api.capturing import capture as capture
from roofline.api.capturing import load_ipython_extension as load_ipython_extension
from roofline.api.comparing import CheckResult as CheckResult
from roofline.api.comparing import Comparison as Comparison
from roofline.api.comparing import check as check
from roofline.api.comparing import compare as compare
from roofline.api.estimates import Estimate as Estimate
from roofline.api.estimates import Prediction as Prediction
from roofline.api.estimates import estimate as estimate
from roofline.api.estimates import predict as predict
from roofline.api.estimates import topology as topology
from roofline.api.packaged import example as example
from roofline.api.profiles import Advice as Advice
from roofline.api.profiles import Op as Op
from roofline.api.profiles import Profile as Profile
from roofline.api.profiles import Subject as Subject
from roofline.api.profiles import Verdict as Verdict
from roofline.api.profiles import advise as advise
from roofline.api.profiles import open_profile as open_profile
from roofline.api.results import Report as Report
from roofline.api.results import report as report
from roofline.api.trackers import log_mlflow as log_mlflow
from roofline.api.trackers import log_tensorboard as log_tensorboard
from roofline.api.trackers import log_wandb as log_wandb
from roofline.errors import RooflineError as RooflineError

__all__: list[str]
__version__: str
